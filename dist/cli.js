#!/usr/bin/env node
import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);
var o=["run","recover","close"].includes(process.argv[2]??""),s=o?(await import("./launch-L2R4BDTK.js")).protectProcess():void 0,{main:e}=await import("./program-RKPISVTZ.js");await e(process.argv,s);
