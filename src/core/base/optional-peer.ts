import { RobotsInvalidOptionsError } from './errors.ts';

/**
 * Loads an optional peer when an entry point needs it, so that other users need not install it.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it cannot be loaded.
 */
export function loadPeer<Module>(name: string, entryPoint: string, load: () => Module): Module {
  try {
    return load();
  } catch (cause) {
    throw new RobotsInvalidOptionsError(
      `Expected the package \`${name}\`, which ${entryPoint} needs, to be installed: npm install ${name}`,
      { cause },
    );
  }
}
