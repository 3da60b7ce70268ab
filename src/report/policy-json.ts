import type { OriginPolicy } from '../decision/index.ts';

/** Converts a policy to plain data, without the parsed file and its octets. */
export function policyRecord({ rules, file, ...policy }: OriginPolicy): object {
  const { body: _, ...described } = file ?? {};
  return {
    ...policy,
    ...(rules === undefined ? {} : { dialect: rules.dialect }),
    ...(file === undefined ? {} : { file: described }),
  };
}
