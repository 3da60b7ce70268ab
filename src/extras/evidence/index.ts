/**
 * What was in force when, written down by a client and decided again by its own rules: `canfetch/evidence`. Inside, the
 * command imports it. The client needs `recorder.ts` alone, which must not import Node. No file here imports the client.
 */
export type {
  AttemptEntry,
  DecisionEntry,
  EvidenceEntry,
  ForgottenEntry,
  IgnoredEntry,
  OverrideEntry,
  RunEntry,
  SignalEntry,
  StoredEntry,
} from '../../core/client/evidence/entry.ts';
export type { EvidenceFault } from './fold.ts';
export { type EvidenceFile, evidenceFile, type EvidenceMessage } from './evidence-file.ts';
export {
  replay,
  type ReplayDifference,
  type ReplayedDecision,
  type ReplayOptions,
  type ReplayReport,
} from './replay.ts';
