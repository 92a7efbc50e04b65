/** Scope of all tokens. Google's IAM decides what their owner may do. */
export const CLOUD_SCOPE = "https://www.googleapis.com/auth/cloud-platform";
