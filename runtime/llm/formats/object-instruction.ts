/** System prompt for APIs that cannot require "any JSON object". */
export const OBJECT_INSTRUCTION = "Respond with one JSON object and nothing else.";
