import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);
import{b as e}from"./chunk-P6MQ2HP3.js";import{e as n,k as s}from"./chunk-RACNPLMJ.js";import{existsSync as u}from"node:fs";function f(t){if(t!==void 0)return{trust:e(o(t),t)};let{trustFile:r}=n(process.env);return u(r)?{trust:e(o(r),r),trustLabel:"local key"}:{trust:e(`version: 1
keys: []
`,"no trust file")}}function o(t){return s(t,{limit:1048576,code:"INPUT_UNREADABLE",next:"Name a readable trust file with --trust."}).toString("utf8")}export{f as a};
