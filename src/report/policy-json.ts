import type { OriginPolicy } from '../decision/index.ts';

/** A policy as plain data: all of it but the parsed file and the octets it was parsed from. */
export function policyRecord({ rules, file, ...policy }: OriginPolicy): object {
  const { body: _, ...described } = file ?? {};
  return {
    ...policy,
    ...(rules === undefined ? {} : { dialect: rules.dialect }),
    ...(file === undefined ? {} : { file: described }),
  };
}
