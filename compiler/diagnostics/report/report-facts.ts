/** What a report says besides the findings. */
export interface ReportFacts {
  /** The files that were checked, as the user named them. */
  readonly files: readonly string[];
  readonly version: string;
  readonly isColored: boolean;
}
