/** The kind as the Gateway API inference extension names it; its fields are checked by gwc. */
export const poolDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: inferencepools.inference.networking.k8s.io
  annotations: { api-approved.kubernetes.io: "unapproved, a test's own" }
spec:
  group: inference.networking.k8s.io
  names: { kind: InferencePool, listKind: InferencePoolList, plural: inferencepools, singular: inferencepool }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
            status: { type: object, properties: { parents: { type: array, maxItems: 32, items: {
              type: object,
              properties: {
                controllerName: { type: string }, parentRef: { type: object, additionalProperties: { type: string } },
                conditions: { type: array, items: { type: object, x-kubernetes-preserve-unknown-fields: true } } } } } } }
`;

/** The first definition of the kind, which is of another group. */
export const OLD_POOLS = poolDefinition
  .replaceAll("inference.networking.k8s.io", "inference.networking.x-k8s.io")
  .replace("name: v1\n", "name: v1alpha2\n")
  .replace("parents:", "parent:")
  .replace("controllerName: { type: string }, ", "");

export interface PoolParent {
  readonly parentRef: {
    readonly name: string;
    readonly apiVersion?: string;
    readonly kind?: string;
  };
  readonly controllerName?: string;
  readonly conditions: readonly { readonly type: string; readonly reason: string }[];
}
