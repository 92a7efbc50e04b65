import type { ApiServer } from "./api-server.ts";
import { recordOf, textField } from "./json-fields.ts";

/** The definition that is asked: its annotations say of which release of the Gateway API it is. */
const DEFINITION =
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gatewayclasses.gateway.networking.k8s.io";

/**
 * The release of the Gateway API whose definitions are installed (`v1.5.1`); undefined when they are not, do not say, or
 * may not be read.
 */
export async function gatewayApiVersion(api: ApiServer): Promise<string | undefined> {
  const { status, body } = await api.request({ method: "GET", path: DEFINITION });
  if (status !== 200) return undefined;
  const annotations = recordOf(recordOf(body)?.metadata)?.annotations;
  return textField(annotations, "gateway.networking.k8s.io/bundle-version");
}
