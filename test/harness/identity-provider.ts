import { createServer, type RequestListener, type Server } from "node:http";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { Provider } from "oidc-provider";
import { listen } from "./listen.ts";

/** The API that tokens are issued for. */
export const audience = "https://api.example";

interface ProviderOptions {
  readonly announcesIssuer?: boolean;
  readonly key?: JWK;
}

/** A new private key to sign tokens with. */
export async function signingKey(alg = "RS256"): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = `key-${Math.random().toString(36).slice(2)}`;
  return { ...(await exportJWK(privateKey)), kid, alg, use: "sig" };
}

/** A real OpenID provider on a loopback port, with what tests do to one: rotate its keys, take it down. */
export class IdentityProvider {
  readonly issuer: string;
  /** The private keys it signs with. */
  keys: JWK[] = [];
  /** Requests for the key set. */
  keySetRequests = 0;
  /** Overrides the response to requests. */
  fault: RequestListener | undefined;
  #response: RequestListener = () => {};
  readonly #announcesIssuer: boolean;

  private constructor(port: number, server: Server, announcesIssuer: boolean) {
    this.#announcesIssuer = announcesIssuer;
    this.issuer = `http://127.0.0.1:${port}`;
    server.on("request", (request, response) => {
      if (request.url === "/jwks") this.keySetRequests += 1;
      (this.fault ?? this.#response)(request, response);
    });
  }

  /**
   * `announcesIssuer`: its metadata says that its responses name it (RFC 9207), as they do in any case. `key`: what it signs
   * with, instead of a new one of its own.
   */
  static async start({ announcesIssuer = true, key }: ProviderOptions = {}) {
    const server = createServer();
    const provider = new IdentityProvider(await listen(server), server, announcesIssuer);
    provider.use([key ?? (await signingKey())]);
    return provider;
  }

  get keySetUrl(): string {
    return `${this.issuer}/jwks`;
  }

  /** Replaces all keys by a new one of that algorithm. */
  async rotate(alg?: string): Promise<void> {
    this.use([await signingKey(alg)]);
  }

  use(keys: JWK[]): void {
    this.keys = keys;
    const provider = new Provider(this.issuer, configuration(keys));
    if (!this.#announcesIssuer) {
      provider.use(async (context, next) => {
        await next();
        if (!context.path.startsWith("/.well-known/")) return;
        const silent = { authorization_response_iss_parameter_supported: false };
        context.body = { ...Object(context.body), ...silent };
      });
    }
    this.#response = provider.callback();
  }

  /** An access token by client credentials, as a client gets one. */
  async token(scope = "use"): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa("app:secret")}` },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        resource: audience,
        scope,
      }),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    return access_token;
  }
}

function configuration(keys: JWK[]): object {
  const alg = keys[0]?.alg;
  return {
    jwks: { keys },
    scopes: ["openid", "offline_access", "use", "add", "drop"],
    // As Keycloak names it.
    routes: { registration: "/clients-registrations/openid-connect" },
    enabledJWA: { idTokenSigningAlgValues: [alg] },
    clients: [
      {
        client_id: "app",
        client_secret: "secret",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: alg,
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: "use add drop",
          audience,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg } },
        }),
      },
    },
  };
}
