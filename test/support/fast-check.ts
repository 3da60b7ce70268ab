import fc from 'fast-check';

// Whether a change is good is not to hang on chance: where `CI` is set the same cases are tried each time. Elsewhere
// they are others each time, and what fails tells its seed.
if (process.env['CI'] !== undefined) fc.configureGlobal({ seed: 9309 });

export default fc;
