import { tryUsualLibraries } from './contract-libraries.ts';

await tryUsualLibraries();
