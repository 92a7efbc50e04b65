/** Name of a label in the data model of Prometheus. */
export const LABEL_NAME = {
  maxLength: 64,
  pattern: "^[a-zA-Z][a-zA-Z0-9_]*$",
  form: "the name of a label, with letters, digits and `_`",
};
