/**
 * `canfetch/evidence`: a file for what a client records, and the replay of it. The client itself has only
 * `core/client/evidence/`, which does not import Node.
 */
export type * from '../../core/client/evidence/entry.ts';
export type { OwnDelays } from '../../core/decision/index.ts';
export { type EvidenceFile, evidenceFile } from './evidence-file.ts';
export {
  type EvidenceFault,
  type Instant,
  replay,
  type ReplayDifference,
  type ReplayedDecision,
  type ReplayOptions,
  type ReplayReport,
} from './replay.ts';
export type { EntryFault } from './recorded-run.ts';
export { evidenceLine } from './run-lines.ts';
