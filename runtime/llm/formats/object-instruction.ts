/** What the system prompt says where an API has no form for "any JSON object". */
export const OBJECT_INSTRUCTION = "Respond with one JSON object and nothing else.";
