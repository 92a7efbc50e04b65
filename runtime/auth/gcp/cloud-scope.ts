/** What all tokens may be used for; what their owner may do is Google's to decide. */
export const CLOUD_SCOPE = "https://www.googleapis.com/auth/cloud-platform";
