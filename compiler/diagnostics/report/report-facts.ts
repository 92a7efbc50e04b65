/** Facts of a report other than its findings. */
export interface ReportFacts {
  /** Checked files, as the user named them. */
  readonly files: readonly string[];
  readonly version: string;
  readonly isColored: boolean;
}
