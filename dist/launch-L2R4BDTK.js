import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);
import{a,b,c,d,e}from"./chunk-OW2QYZLB.js";import"./chunk-2EMSF3B5.js";import"./chunk-THDJEO7T.js";import"./chunk-IP2OIDJA.js";import"./chunk-SPLPXYLV.js";export{b as assertUnobserved,d as lockFile,a as protectProcess,c as selectLauncher,e as unlockFile};
