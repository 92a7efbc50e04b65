// The package ships no types: the part that the tests use.
declare module "oidc-provider" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    use(
      middleware: (
        context: { readonly path: string; body: unknown },
        next: () => Promise<void>,
      ) => Promise<void>,
    ): void;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>;
    readonly AccessToken: {
      find(
        token: string,
      ): Promise<
        | { readonly accountId: string; readonly isExpired: boolean; readonly grantId?: string }
        | undefined
      >;
      revokeByGrantId(grantId: string): Promise<void>;
    };
    readonly RefreshToken: { revokeByGrantId(grantId: string): Promise<void> };
    readonly Grant: new (of: {
      accountId: string;
      clientId: string;
    }) => Grant;
  }
}
