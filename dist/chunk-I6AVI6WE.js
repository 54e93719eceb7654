import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);
import{d as i}from"./chunk-IU6OUMSX.js";import{f as t}from"./chunk-RACNPLMJ.js";import{b as e}from"./chunk-OW2QYZLB.js";import{q as n}from"./chunk-THDJEO7T.js";async function y(s,o,m){let r=o&&n(o);return r!==void 0&&!m&&i(`warning: ${r}`),e(),t(s,{guard:e})}export{y as a};
