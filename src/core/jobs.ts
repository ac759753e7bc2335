/** A command that goes on after the call that started it was answered. */
export interface JobSummary {
  id: string;
  device: string;
  user: string;
  command: string;
  /** ISO 8601, UTC. */
  started_at: string;
  /** ISO 8601, UTC; null while it runs. */
  ended_at: string | null;
  exit_code: number | null;
  signal: string | null;
  timed_out: boolean;
  cancelled: boolean;
}

/** The jobs of the process, as an operator's page and the metrics see them. */
export interface JobControl {
  /** Running ones first, newest first. */
  list(): JobSummary[];
  /** Ends a running job on its device. Resolves with false where no such job runs. */
  cancel(id: string): Promise<boolean>;
}
