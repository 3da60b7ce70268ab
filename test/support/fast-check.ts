// One name, `fc`, for the values and the types of fast-check, with our own `assert`.
import * as fc from './properties.ts';

export default fc;
