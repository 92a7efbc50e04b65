/** What requests to AWS are signed with. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of keys that are good for some time only. */
  readonly sessionToken?: string | undefined;
}

/** Where the keys come from. Rejects when there are none to be had. */
export type AwsKeySource = () => AwsKeys | Promise<AwsKeys>;
