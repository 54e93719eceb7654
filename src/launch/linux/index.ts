export { linuxLauncher } from './launcher.ts';
export { lockFile, unlockFile } from './lock.ts';
export { shieldProcess } from './shield.ts';
