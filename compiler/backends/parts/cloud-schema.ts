import {
  anyText,
  choice,
  list,
  object,
  shortText,
  text,
  unsupported,
  unsupportedBut,
  type ValueCheck,
} from "../../schema/schema.ts";
import { credentialSchema } from "./sent-credentials.ts";

const awsName = { pattern: "^[a-z0-9-]+$", form: "lower-case letters, digits and dashes" };

/** Returns the schema of `gcp` in a file. */
export function gcpAuthSchema() {
  return object(
    {
      type: choice(
        "Type of token: access tokens for Google APIs, identity tokens for services such as Cloud Run.",
        ["AccessToken", "IdToken", "accessToken", "idToken"],
        { default: "AccessToken" },
      ),
      audience: shortText("Audience of an identity token; the backend's host by default."),
      credential: credentialSchema(
        "Google credentials as JSON, instead of those of the gateway: `${NAME}`, or `{file: PATH}`.",
        65_536,
      ),
    },
    {
      description:
        "Sends a token of the gateway's own Google identity: from the file in GOOGLE_APPLICATION_CREDENTIALS (a service account, a user, a workload identity), or else from the metadata server.",
      checks: [
        {
          message: '"audience" requires type: IdToken',
          field: "audience",
          holds: ({ type, audience }) =>
            audience === undefined || type === "IdToken" || type === "idToken",
          cel: "!has(self.audience) || (has(self.type) && self.type in ['IdToken', 'idToken'])",
        },
      ],
    },
  );
}

/** Schema of the AWS service that requests are signed for. */
export const awsService = shortText(
  "Service name for signing; by default that of the backend's host.",
  awsName,
);

/** Returns the fields that both forms of `aws` have. */
export function awsFields() {
  return {
    region: shortText("AWS region; by default that of the backend's host.", awsName),
    assumeRole: object(
      {
        roleArn: text("ARN of the role.", {
          maxLength: 2048,
          pattern: "^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$",
          form: "the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME",
          examples: ["arn:aws:iam::123456789012:role/gateway"],
        }),
        sessionName: text("Name of the session in AWS's logs.", {
          pattern: "^[A-Za-z0-9_+=,.@-]{2,64}$",
          form: "2 to 64 letters, digits and characters of _+=,.@-",
          default: "gwc",
        }),
        sessionNameExpression: unsupportedBut("session names by expression", "set a sessionName"),
        tags: list(
          object(
            {
              key: text("The tag's name.", { minLength: 1, maxLength: 128 }),
              value: anyText({ maxLength: 256, description: "The tag's value." }),
              expression: unsupportedBut("tags by expression", "set a value"),
            },
            { required: ["key", "value"] },
          ),
          { maxItems: 50, description: "Tags of the session, for cost reports." },
        ),
      },
      {
        required: ["roleArn"],
        description:
          "Role whose temporary keys sign the requests, assumed at AWS's Security Token Service with the gateway's own credentials.",
      },
    ),
  };
}

/** Returns the check that a role is assumed with the gateway's own credentials; `keys` is the field of others. */
export function awsRoleChecks(keys: string): readonly ValueCheck[] {
  return [
    {
      message: `"assumeRole" cannot be combined with "${keys}": roles are assumed with the gateway's own credentials`,
      field: "assumeRole",
      holds: (value) => value.assumeRole === undefined || value[keys] === undefined,
      cel: `!has(self.assumeRole) || !has(self.${keys})`,
    },
  ];
}

/** Returns the schema of `aws` in a file. */
export function awsAuthSchema() {
  return object(
    {
      accessKeyId: text("Access key id.", { readAtStart: true }),
      secretAccessKey: text("Secret access key.", { secret: true }),
      sessionToken: text("Session token, for temporary credentials.", { secret: true }),
      ...awsFields(),
      service: awsService,
      serviceName: { ...awsService, aliasOf: "service" },
    },
    {
      examples: [{ region: "eu-central-1" }],
      atMostOneOf: ["service", "serviceName"],
      description:
        "Signs requests (AWS Signature Version 4), by default with the gateway's own credentials: from a profile (`AWS_PROFILE` with keys, a role, an IAM Identity Center login or a credential process), the environment, a web identity, the container's agent, or the instance.",
      checks: [
        {
          message: '"accessKeyId" and "secretAccessKey" require each other',
          holds: (value) =>
            (value.accessKeyId === undefined) === (value.secretAccessKey === undefined),
          cel: "has(self.accessKeyId) == has(self.secretAccessKey)",
        },
        {
          message: '"sessionToken" requires "accessKeyId"',
          field: "sessionToken",
          holds: ({ accessKeyId, sessionToken }) =>
            sessionToken === undefined || accessKeyId !== undefined,
          cel: "!has(self.sessionToken) || has(self.accessKeyId)",
        },
        ...awsRoleChecks("accessKeyId"),
      ],
    },
  );
}

/** Returns the schema of `azure` in a file. */
export function azureAuthSchema() {
  const identity = object(
    {
      clientId: shortText("Client id of the identity."),
      objectId: shortText("Object id of the identity."),
      resourceId: text("Resource id of the identity."),
    },
    {
      exactlyOneOf: ["clientId", "objectId", "resourceId"],
      description: "A user-assigned identity; the system-assigned one by default.",
    },
  );
  const explicitConfig = object(
    {
      clientSecret: object(
        {
          tenant_id: shortText("Tenant id.", { readAtStart: true }),
          client_id: shortText("Client id of the application.", { readAtStart: true }),
          client_secret: text("Client secret of the application.", { secret: true }),
        },
        {
          required: ["tenant_id", "client_id", "client_secret"],
          description: "A Microsoft Entra application.",
        },
      ),
      managedIdentity: object(
        { userAssignedIdentity: identity },
        { description: "Managed identity of the machine." },
      ),
      workloadIdentity: object(
        {},
        {
          description: "Workload identity with the federated token in AZURE_FEDERATED_TOKEN_FILE.",
        },
      ),
    },
    { exactlyOneOf: ["clientSecret", "managedIdentity", "workloadIdentity"] },
  );
  return object(
    {
      explicitConfig: { ...explicitConfig, description: "Identity whose token is sent." },
      implicit: object(
        {},
        {
          description:
            "The gateway's own Azure identity: an application in the environment, a workload identity, or the machine's managed identity.",
        },
      ),
      developerImplicit: unsupported("logins of the Azure CLI"),
      scope: text("Scope of the token.", { default: AZURE_SCOPE }),
    },
    {
      exactlyOneOf: ["explicitConfig", "implicit", "developerImplicit"],
      description: "Sends a Microsoft Entra token.",
    },
  );
}

/** Default scope of tokens for Azure services. */
export const AZURE_SCOPE = "https://cognitiveservices.azure.com/.default";
