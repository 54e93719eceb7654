import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);
import{a,b,c}from"./chunk-P6MQ2HP3.js";import"./chunk-KE7WJA6X.js";import"./chunk-E2EMOHD5.js";import"./chunk-XRE6Q3U2.js";import"./chunk-3ATFTXBI.js";import"./chunk-IP2OIDJA.js";import"./chunk-SPLPXYLV.js";export{a as Trust,b as parseTrust,c as withTrustedKey};
