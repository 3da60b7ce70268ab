/** Makes the contract callable in a page. */
import { runContract } from './contract.ts';

Reflect.set(globalThis, 'runContract', runContract);
