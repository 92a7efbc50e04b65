// Written by "npm run models". Each row is that of a model: prices of input, output, cache reads and cache writes in US
// dollars for a million tokens; then those of prompts above a number of tokens.

/** Prices of `anthropic`. */
export const ANTHROPIC_PRICES = `
claude-3-5-haiku 0.8/4/0.08/1
claude-3-5-sonnet 3/15/0.3/3.75
claude-3-7-sonnet 3/15/0.3/3.75
claude-3-haiku 0.25/1.25/0.03/0.3
claude-3-opus 15/75/1.5/18.75
claude-3-sonnet 3/15/0.3/3.75
claude-fable-5 10/50/1/12.5
claude-fable-5-1 10/50/0.25/12.5
claude-haiku-4-5 1/5/0.1/1.25
claude-opus-4 15/75/1.5/18.75
claude-opus-4-1 15/75/1.5/18.75
claude-opus-4-5 5/25/0.5/6.25
claude-opus-4-6 5/25/0.5/6.25
claude-opus-4-7 5/25/0.5/6.25
claude-opus-4-8 5/25/0.5/6.25
claude-opus-5 5/25/0.5/6.25
claude-opus-5-5 4/20/0.2/5
claude-sonnet-4 3/15/0.3/3.75
claude-sonnet-4-5 3/15/0.3/3.75 200000 6/22.5/0.6/7.5
claude-sonnet-4-6 3/15/0.3/3.75
claude-sonnet-5 2/10/0.2/2.5
`;

/** Prices of `openai`. */
export const OPENAI_PRICES = `
chatgpt-4o-latest 5/15//
gpt-4-turbo 10/30//
gpt-4.1 2/8/0.5/
gpt-4.1-mini 0.4/1.6/0.1/
gpt-4.1-nano 0.1/0.4/0.025/
gpt-4.5-preview 75/150/37.5/
gpt-4o 2.5/10/1.25/
gpt-4o-mini 0.15/0.6/0.075/
gpt-5 1.25/10/0.125/
gpt-5-mini 0.25/2/0.025/
gpt-5-nano 0.05/0.4/0.005/
gpt-5-pro 15/120//
gpt-5.1 1.25/10/0.125/
gpt-5.2 1.75/14/0.175/
gpt-5.2-codex 1.75/14/0.175/
gpt-5.2-pro 21/168//
gpt-5.3-codex 1.75/14/0.175/
gpt-5.4 2.5/15/0.25/ 271999 5/22.5/0.5/
gpt-5.4-mini 0.75/4.5/0.075/
gpt-5.4-nano 0.2/1.25/0.02/
gpt-5.4-pro 30/180// 271999 60/270//
gpt-5.5 5/30/0.5/ 271999 10/45/1/
gpt-5.5-pro 30/180// 271999 60/270//
gpt-5.6 4/20/0.4/5 271999 8/30/0.8/10
gpt-5.6-luna 0.2/1.2/0.02/0.25 271999 0.4/1.8/0.04/0.5
gpt-5.6-terra 2/12/0.2/2.5 271999 4/18/0.4/5
gpt-6-astra 10/50/1/12.5 271999 20/75/2/25
gpt-6-luna 0.1/0.5/0.01/0.125 272000 0.2/0.75/0.02/0.25
gpt-6-sol 2/10/0.2/2.5 272000 4/15/0.4/5
o1 15/60/7.5/
o1-mini 1.1/4.4/0.55/
o1-preview 15/60/7.5/
o1-pro 150/600//
o3 2/8/0.5/
o3-deep-research 10/40/2.5/
o3-mini 1.1/4.4/0.55/
o3-pro 20/80//
o4-mini 1.1/4.4/0.275/
o4-mini-deep-research 2/8/0.5/
`;

/** Prices of `gcp.gemini`. */
export const GCP_GEMINI_PRICES = `
gemini-2.5-flash 0.3/2.5/0.03/
gemini-2.5-flash-lite-preview 0.1/0.4/0.01/
gemini-2.5-pro 1.25/10/0.125/ 200000 2.5/15/0.25/
gemini-3-flash-preview 0.5/3/0.05/
gemini-3-pro-preview 2/12/0.2/ 200000 4/18/0.4/
gemini-3.1-flash-lite 0.25/1.5/0.025/
gemini-3.1-pro-preview 2/12/0.2/ 200000 4/18/0.4/
gemini-3.5-flash 1.5/9/0.15/
gemini-3.5-flash-lite 0.3/2.5/0.03/
gemini-3.6-flash 0.75/3.75/0.075/
gemini-3.7-flash 0.75/3.75/0.075/
gemini-3.8-flash 0.75/3.75/0.075/
`;

/** Prices of `x_ai`. */
export const X_AI_PRICES = `
grok-2 2/10//
grok-2-vision 2/10//
grok-3-beta 3/15/0.75/
grok-3-mini-beta 0.3/0.5/0.075/
grok-4 3/15/0.75/
grok-4.3 1.25/2.5/0.2/ 199999 2.5/5/0.4/
grok-4.5 2/6/0.3/ 199999 4/12/0.6/
grok-4.6 2/6/0.5/ 199999 4/12/1/
`;

/** Prices of `deepseek`. */
export const DEEPSEEK_PRICES = `
deepseek-chat 0.135/0.55/0.035/
deepseek-reasoner 0.135/0.55/0.035/
deepseek-v4-flash 0.22/0.66/0.007/
deepseek-v4-flash-vision-exp 0.22/0.66/0.007/
deepseek-v4-pro 0.66/1.98/0.022/
`;

/** Prices of `moonshot_ai`. */
export const MOONSHOT_AI_PRICES = `
kimi-k2-thinking 0.6/2.5/0.15/
kimi-k2-thinking-turbo 1.15/8/0.15/
kimi-k2-turbo-preview 1.15/8/0.15/
kimi-k2.5 0.6/3/0.1/
kimi-k2.6 0.95/4/0.16/
kimi-k2.7-code 0.95/4/0.19/
kimi-k3 3/15/0.3/
moonshot-v1-128k 2/5//
moonshot-v1-128k-vision-preview 2/5//
`;
