/** An OAuth client's storage whose user is sent to the provider's page and never returns. */
export class PatientUser {
  readonly redirectUrl = "http://localhost:1234/callback";
  readonly clientMetadata = { redirect_uris: [this.redirectUrl], client_name: "test" };
  /** The page that the user was sent to. */
  sentTo: URL | undefined;

  saveTokens(): void {}

  redirectToAuthorization(url: URL): void {
    this.sentTo = url;
  }

  saveCodeVerifier(): void {}

  codeVerifier(): string {
    return "";
  }
}
