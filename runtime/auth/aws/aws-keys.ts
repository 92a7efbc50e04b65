/** Keys that sign requests to AWS. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only for temporary keys. */
  readonly sessionToken?: string | undefined;
}

/** Source of keys. Rejects if it has no keys. */
export type AwsKeySource = () => AwsKeys | Promise<AwsKeys>;
