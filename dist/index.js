import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);
var{protectProcess:t}=await import("./launch-L2R4BDTK.js"),o=t(),{runStep:e}=await import("./run-step-IC7ZSALS.js");process.exitCode=await e(process.env,o);process.exit();
