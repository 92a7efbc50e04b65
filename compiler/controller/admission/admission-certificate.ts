import { X509Certificate } from "node:crypto";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import { type CertificatePair, selfSigned } from "./self-signed.ts";

/** The Secret of the controller's namespace (`NAMESPACE/NAME`) that the certificate is in. */
export function certificateSecret(namespace: string): string {
  return `${namespace}/${SECRET}`;
}

/**
 * The Secret of the controller's namespace that contains the certificate of all replicas, or one that somebody else has
 * put there.
 */
const SECRET = "gwc-webhook-cert";
/** Says of a Secret that the controller made it: such a one it makes anew before its time is over. */
const MADE_BY = "app.kubernetes.io/managed-by";
const CONTROLLER = "gwc-controller";
/** Days that a certificate is good for, and how many of them are left when the next one is made. */
const [DAYS, LAST_DAYS] = [365, 60];

/** Subject of the certificate. */
export interface AdmissionCertificateSettings {
  readonly api: ApiServer;
  readonly objects: WatchedObjects;
  /** Namespace of the controller. */
  readonly namespace: string;
  /** The name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
}

/** The certificate and key that the Secret has now; `undefined` if it has no pair. */
export function currentPair({
  objects,
  namespace,
}: AdmissionCertificateSettings): CertificatePair | undefined {
  const data = objects.valuesOf("Secret", certificateSecret(namespace));
  const [cert, key] = [entryOf(data, "tls.crt"), entryOf(data, "tls.key")];
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/**
 * Keeps a certificate in the Secret, and its authority in the configuration by which the API server knows it. Resolves
 * when nothing is left to write, or when the next call takes over.
 */
export async function keepCertificate(settings: AdmissionCertificateSettings): Promise<void> {
  const { api, objects, namespace, configuration } = settings;
  const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${configuration}`;
  const found = await api.request({ method: "GET", path });
  if (found.status !== 200) throw new Error(`status ${found.status}`);
  const webhooks = itemsField(found.body, "webhooks");
  const hosts = [...new Set(webhooks.flatMap((each) => hostOf(each) ?? []))];
  const secret = objects.find("Secret", certificateSecret(namespace));
  const data = objects.valuesOf("Secret", certificateSecret(namespace));
  const isOurs = secret?.metadata.labels?.[MADE_BY] === CONTROLLER;
  const cert = entryOf(data, "tls.crt");
  if (secret === undefined || (isOurs && !isGood(cert, hosts)))
    return writePair(settings, selfSigned(hosts, DAYS), secret !== undefined);
  const authority = entryOf(data, "ca.crt") || cert;
  if (authority === undefined) return;
  const wrong = webhooks.flatMap((each) => {
    const known = bundleOf(each);
    if (known.startsWith(authority)) return [];
    // Replicas that have not heard of the new one yet are known by the last one.
    const [last = ""] = known.match(CERTIFICATE) ?? [];
    const caBundle = Buffer.from(`${authority.trimEnd()}\n${last}`).toString("base64");
    return [{ name: textField(each, "name"), clientConfig: { caBundle } }];
  });
  if (wrong.length === 0) return;
  const contentType = "application/strategic-merge-patch+json";
  const { status } = await api.request({
    ...{ method: "PATCH", path, contentType, body: { webhooks: wrong } },
  });
  if (status !== 200) throw new Error(`status ${status}`);
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/;

/** Another replica may be faster: its Secret is as good. */
async function writePair(
  { api, namespace }: AdmissionCertificateSettings,
  { cert, key }: CertificatePair,
  isThere: boolean,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const stringData = { "tls.crt": cert, "tls.key": key };
  const metadata = { name: SECRET, namespace, labels: { [MADE_BY]: CONTROLLER } };
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/tls",
    metadata,
    stringData,
  };
  const contentType = "application/merge-patch+json";
  const { status } = await api.request(
    isThere
      ? { method: "PATCH", path: `${path}/${SECRET}`, contentType, body: { stringData } }
      : { method: "POST", path, body },
  );
  if (status >= 300 && status !== 409) throw new Error(`the Secret ${SECRET}: status ${status}`);
}

/** Whether a certificate is for these hosts, and will be for a while. */
function isGood(cert: string | undefined, hosts: readonly string[]): boolean {
  try {
    const read = new X509Certificate(cert ?? "");
    const left = read.validToDate.getTime() - Date.now();
    const names = read.subjectAltName ?? "";
    return left > LAST_DAYS * 24 * 60 * 60 * 1000 && hosts.every((host) => names.includes(host));
  } catch {
    return false;
  }
}

/** The host that the API server asks for a webhook. */
function hostOf(webhook: unknown): string | undefined {
  const { clientConfig } = recordOf(webhook) ?? {};
  const { service } = recordOf(clientConfig) ?? {};
  const name = textField(service, "name");
  if (name !== undefined) return `${name}.${textField(service, "namespace")}.svc`;
  return URL.parse(textField(clientConfig, "url") ?? "")?.hostname.replace(/^\[|\]$/g, "");
}

function bundleOf(webhook: unknown): string {
  const text = textField(recordOf(webhook)?.clientConfig, "caBundle") ?? "";
  return Buffer.from(text, "base64").toString("utf8");
}

function entryOf(data: unknown, name: string): string | undefined {
  const text = textField(data, name);
  return text === undefined ? undefined : Buffer.from(text, "base64").toString("utf8");
}
