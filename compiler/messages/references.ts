/** Parts of a configuration that do not fit together. */
export const referenceMessages = {};
