import type {
  AwsKeyTexts,
  AwsRole,
  AzureAuthConfig,
  CloudCredentials,
} from "../../../compiler/model/cloud-credentials.ts";
import type { MountedFile, Text } from "../../../compiler/model/texts.ts";
import { code, join, literal } from "../../code/code.ts";
import { filePath, isText } from "../../code/file-path.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { upstreamUrl } from "./upstream-url.ts";

/** Writes the credentials of a cloud: signatures, or a fetched token. */
export function cloudCredential(credentials: CloudCredentials, url: Text): Code {
  if (credentials.kind !== "aws") {
    const show = imported("gwc/runtime/auth/cloud/bearer-credential", "bearerCredential");
    const token = credentials.kind === "gcp" ? gcpToken(credentials, url) : azureToken(credentials);
    return code`${show}(${token})`;
  }
  const { region, service, keys, role } = credentials;
  const sign = imported(`${AWS}/aws-credential`, "awsCredential");
  const source = role === undefined ? awsKeys(keys, region) : roleKeys(role, region);
  return code`${sign}(${literal({ region, service, keys: source })})`;
}

const GCP = "gwc/runtime/auth/gcp";

type GcpCredentials = Extract<CloudCredentials, { readonly kind: "gcp" }>;

function gcpToken({ token, audience, credential }: GcpCredentials, url: Text): Code {
  const own = credential === undefined ? [] : [googleCredentials(credential)];
  const args = token === "access" ? own : [audienceCode(audience, url), ...own];
  const [file, label] =
    token === "access" ? ["access-token", "accessToken"] : ["id-token", "idToken"];
  return code`${imported(`${GCP}/${file}`, label)}(${join(args, ", ")})`;
}

function googleCredentials(value: Text | MountedFile): Code {
  return code`${literal(isText(value) ? { json: value } : { file: filePath(value) })}`;
}

/** Writes the audience; for an address that is read at start, it is derived then. */
function audienceCode(audience: string | undefined, url: Text): Code {
  if (audience !== undefined) return code`${literal(audience)}`;
  if (typeof url === "string") return code`${literal(`https://${new URL(url).hostname}`)}`;
  return code`${imported(`${GCP}/audience`, "audienceOf")}(${literal(upstreamUrl(url, true))})`;
}

function azureToken({ scope, source }: AzureAuthConfig): Code {
  const { kind } = source;
  switch (kind) {
    case "clientSecret": {
      const { kind: _, ...settings } = source;
      const open = imported(`${AZURE}/client-secret`, "clientSecretToken");
      return code`${open}(${literal({ scope, ...settings })})`;
    }
    case "mountedSecret": {
      const { tenantId, clientId, clientSecret } = source.files;
      const files = {
        tenantId: filePath(tenantId),
        clientId: filePath(clientId),
        clientSecret: filePath(clientSecret),
      };
      const open = imported(`${AZURE}/mounted-secret`, "mountedSecretToken");
      return code`${open}(${literal({ scope, files })})`;
    }
    case "managedIdentity": {
      const open = imported(`${AZURE}/managed-identity`, "managedIdentityToken");
      return code`${open}(${literal(scope)}, ${literal({ ...source.identity })})`;
    }
    case "workloadIdentity": {
      const open = imported(`${AZURE}/workload-identity`, "workloadIdentityToken");
      return code`${open}(${literal(scope)})`;
    }
    case "ambient":
      return code`${imported(`${AZURE}/ambient-token`, "ambientToken")}(${literal(scope)})`;
  }
}

const AZURE = "gwc/runtime/auth/azure";
const AWS = "gwc/runtime/auth/aws";

function roleKeys({ arn, session, tags }: AwsRole, region: string): Code {
  const role = { arn, session, ...(tags.length > 0 && { tags: tags.map((tag) => [...tag]) }) };
  const open = imported(`${AWS}/role-keys`, "roleKeys");
  return code`${open}(${literal(region)}, ${literal(role)})`;
}

function awsKeys(keys: AwsKeyTexts | undefined, region: string): Code {
  if (keys === undefined) {
    return code`${imported(`${AWS}/ambient-keys`, "ambientKeys")}(${literal(region)})`;
  }
  if (keys.kind === "texts") {
    return code`${imported(`${AWS}/static-keys`, "staticKeys")}(${literal({ ...keys.texts })})`;
  }
  const { accessKeyId, secretAccessKey, sessionToken } = keys.files;
  const files = {
    accessKeyId: filePath(accessKeyId),
    secretAccessKey: filePath(secretAccessKey),
    sessionToken: sessionToken && filePath(sessionToken),
  };
  return code`${imported(`${AWS}/mounted-keys`, "mountedKeys")}(${literal(files)})`;
}
