import { isDeepStrictEqual } from "node:util";
import { resourceKind, splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import { type ApiObject, readObject } from "../kubernetes/api-object.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";
import { keptObject } from "../model/watched-object.ts";
import type { JudgedObject, Judgement } from "./judgement.ts";

/** Request of the API server (admission.k8s.io/v1 AdmissionReview). */
export interface AdmissionRequest {
  readonly uid: string;
  /** Undefined: there is nothing to judge. */
  readonly judged: JudgedObject | undefined;
}

/** Parses a request of the API server; `undefined` if it is not an AdmissionReview. */
export function admissionRequest(body: unknown): AdmissionRequest | undefined {
  const review = recordOf(body);
  const request = recordOf(review?.request);
  const uid = textField(request, "uid");
  const isReview = review?.apiVersion === API_VERSION && review.kind === "AdmissionReview";
  if (!isReview || request === undefined || uid === undefined) return undefined;
  return { uid, judged: judgedObject(request) };
}

/** The response to a request: refused with all mistakes, allowed with all warnings. */
export function admissionReview(uid: string, judgement: Judgement | undefined): object {
  const { mistakes = [], warnings = [] } = judgement ?? {};
  const status = { code: 422, reason: "Invalid", message: mistakes.join("\n") };
  return {
    apiVersion: API_VERSION,
    kind: "AdmissionReview",
    response: {
      uid,
      allowed: mistakes.length === 0,
      ...(mistakes.length === 0 ? {} : { status }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
}

const API_VERSION = "admission.k8s.io/v1";

/**
 * Returns the object that is created or changed. Deletions are allowed, and so are changes outside of the
 * specification.
 */
function judgedObject(request: Readonly<Record<string, unknown>>): JudgedObject | undefined {
  const { operation } = request;
  if (operation !== "CREATE" && operation !== "UPDATE") return undefined;
  const object = objectOf(request.object);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const kept = keptObject(object);
  const before = objectOf(request.oldObject);
  const isSame = isDeepStrictEqual(before && keptObject(before).spec, kept.spec);
  if (operation === "UPDATE" && isSame) return undefined;
  const kind = resourceKind(splitApiVersion(object.apiVersion).group, object.kind);
  return kind === undefined ? undefined : { object: kept, kind };
}

/** An object by what it says of itself. */
function objectOf(value: unknown): ApiObject | undefined {
  const [apiVersion, kind] = [textField(value, "apiVersion"), textField(value, "kind")];
  if (apiVersion === undefined || kind === undefined) return undefined;
  const { group, version } = splitApiVersion(apiVersion);
  return readObject(value, { group, version, kind, plural: "", isNamespaced: true });
}
