import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);
var{protectProcess:o}=await import("./launch-L2R4BDTK.js"),t=o(),{closeJob:s}=await import("./close-job-IP4BBJOH.js");await s(process.env,t);process.exit();
