import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);
import{a,b,c,d,e}from"./chunk-X6R5VMV6.js";import"./chunk-XRE6Q3U2.js";import"./chunk-3ATFTXBI.js";import"./chunk-THDJEO7T.js";import"./chunk-IP2OIDJA.js";import"./chunk-SPLPXYLV.js";export{a as describeVerification,b as readOutput,d as readPayload,c as readUnverifiedOutput,e as verifyPaths};
