import type { ManagedIdentity } from "../../runtime/auth/azure/managed-identity.ts";
import type { MountedFile, Text } from "./texts.ts";

/** Credentials of a cloud that requests to a backend show, as configured. */
export type CloudAuthConfig = AwsAuthConfig | AzureAuthConfig | GcpAuthConfig;

/** `aws`: requests are signed. */
export interface AwsAuthConfig {
  readonly kind: "aws";
  /** Undefined: those of whatever the gateway runs on. */
  readonly keys: AwsKeyTexts | undefined;
  /** Undefined: the one that the backend's host names. */
  readonly region: string | undefined;
  /** The name that the service signs by; undefined: the one that the backend's host names. */
  readonly service: string | undefined;
}

/** `gcp`: requests show a token of whatever the gateway runs as. */
export interface GcpAuthConfig {
  readonly kind: "gcp";
  /** Access tokens are for Google's APIs, identity tokens for services that know their callers (Cloud Run). */
  readonly token: "access" | "id";
  /** Of identity tokens; undefined: the backend's host. */
  readonly audience: string | undefined;
}

/** `azure`: requests show a token of Entra. */
export interface AzureAuthConfig {
  readonly kind: "azure";
  /** What the token is for. */
  readonly scope: string;
  readonly source: AzureTokenSource;
}

/** Whose token it is. */
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

/** The mounted files that say which application of Entra it is, and its secret. */
interface EntraApplicationFiles {
  readonly tenantId: MountedFile;
  readonly clientId: MountedFile;
  readonly clientSecret: MountedFile;
}

/** Where keys of AWS stand: all of them in mounted files, or none. */
export type AwsKeyTexts =
  | { readonly kind: "texts"; readonly texts: AwsKeyParts<Text> }
  | { readonly kind: "files"; readonly files: AwsKeyParts<MountedFile> };

/** The parts of a key, and where each is read. */
export interface AwsKeyParts<Place> {
  readonly accessKeyId: Place;
  readonly secretAccessKey: Place;
  /** Of keys that are good for some time only. */
  readonly sessionToken: Place | undefined;
}

/** Which service of AWS, where, requests are signed for. */
export interface AwsScope {
  readonly region: string;
  readonly service: string;
}

/** Credentials of a cloud, complete. */
export type CloudCredentials = (AwsAuthConfig & AwsScope) | AzureAuthConfig | GcpAuthConfig;
