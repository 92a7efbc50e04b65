import type { ManagedIdentity } from "../../runtime/auth/azure/managed-identity.ts";
import type { SentCredentialConfig } from "./sent-credentials.ts";
import type { MountedFile, Text } from "./texts.ts";

/** Cloud credentials for requests to a backend, as configured. */
export type CloudAuthConfig = AwsAuthConfig | AzureAuthConfig | GcpAuthConfig;

/** `aws`: requests are signed. */
export interface AwsAuthConfig {
  readonly kind: "aws";
  /** `undefined` for the credentials of the environment. */
  readonly keys: AwsKeyTexts | undefined;
  /** `undefined` to derive it from the host of the backend. */
  readonly region: string | undefined;
  /** Name of the service in signatures; `undefined` to derive it from the host of the backend. */
  readonly service: string | undefined;
  /** Role whose keys sign; `undefined` to sign with the keys themselves. */
  readonly role?: AwsRole | undefined;
}

/** A role that is assumed before requests are signed. */
export interface AwsRole {
  readonly arn: string;
  readonly session: string;
  readonly tags: readonly (readonly [key: string, value: string])[];
}

/** `gcp`: requests carry a token of the environment's identity. */
export interface GcpAuthConfig {
  readonly kind: "gcp";
  /** Access tokens are for Google's APIs, identity tokens for services that authenticate their callers (Cloud Run). */
  readonly token: "access" | "id";
  /** Audience of identity tokens; `undefined` for the host of the backend. */
  readonly audience: string | undefined;
  /** Credentials as JSON, and their location; `undefined` for those of the environment. */
  readonly credential?: Pick<SentCredentialConfig, "value" | "valueOrigin"> | undefined;
}

/** `azure`: requests carry a token of Microsoft Entra. */
export interface AzureAuthConfig {
  readonly kind: "azure";
  /** Scope of the token. */
  readonly scope: string;
  readonly source: AzureTokenSource;
}

/** Identity of the token. */
export type AzureTokenSource =
  | {
      readonly kind: "clientSecret";
      readonly tenantId: Text;
      readonly clientId: Text;
      readonly clientSecret: Text;
    }
  | { readonly kind: "mountedSecret"; readonly files: EntraApplicationFiles }
  | { readonly kind: "managedIdentity"; readonly identity: ManagedIdentity }
  | { readonly kind: "workloadIdentity" | "ambient" };

/** Mounted files with an Entra application and its secret. */
interface EntraApplicationFiles {
  readonly tenantId: MountedFile;
  readonly clientId: MountedFile;
  readonly clientSecret: MountedFile;
}

/** AWS keys: all of them in mounted files, or none. */
export type AwsKeyTexts =
  | { readonly kind: "texts"; readonly texts: AwsKeyParts<Text> }
  | { readonly kind: "files"; readonly files: AwsKeyParts<MountedFile> };

/** Parts of a key, and the place of each. */
export interface AwsKeyParts<Place> {
  readonly accessKeyId: Place;
  readonly secretAccessKey: Place;
  /** Token of temporary keys. */
  readonly sessionToken: Place | undefined;
}

/** AWS service and region of signatures. */
export interface AwsScope {
  readonly region: string;
  readonly service: string;
}

/** Cloud credentials with all defaults. */
export type CloudCredentials =
  | (AwsAuthConfig & AwsScope)
  | AzureAuthConfig
  | (Omit<GcpAuthConfig, "credential"> & { readonly credential?: Text | MountedFile | undefined });
