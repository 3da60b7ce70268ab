import fc from 'fast-check';

// A mutant is run against each test that reaches it: properties get a share of a second each, and always the same cases,
// so that the score does not hang on chance.
fc.configureGlobal({ seed: 9309, interruptAfterTimeLimit: 250 });
