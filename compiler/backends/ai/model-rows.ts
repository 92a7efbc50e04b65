// Written by "npm run models" from the packages llm-zoo and @pydantic/genai-prices.

/** Day of the rows. */
export const MODEL_ROWS_DATE = "2026-09-23";

/**
 * Models that are known: system, name, context window and maximum output in tokens, inputs, reasoning with its efforts, whether
 * sampling parameters are taken, state, and prices of input, output, cache reads and cache writes in US dollars for a million
 * tokens. Prices of prompts above a number of tokens follow.
 */
export const MODEL_ROWS = `
anthropic claude-3-5-haiku 200000 8192 text,image,pdf none sampling retired 0.8/4/0.08/1
anthropic claude-3-5-sonnet 200000 8192 text,image,pdf none sampling retired 3/15/0.3/3.75
anthropic claude-3-7-sonnet 200000 64000 text,image,pdf budget sampling retired 3/15/0.3/3.75
anthropic claude-3-haiku 200000 8192 text,image,pdf none sampling retired 0.25/1.25/0.03/0.3
anthropic claude-3-opus 200000 4096 text,image,pdf none sampling retired 15/75/1.5/18.75
anthropic claude-3-sonnet 200000 8192 text,image,pdf none sampling retired 3/15/0.3/3.75
anthropic claude-fable-5 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed superseded 10/50/1/12.5
anthropic claude-fable-5-1 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed current 10/50/0.25/12.5
anthropic claude-haiku-4-5 200000 64000 text,image,pdf budget sampling current 1/5/0.1/1.25
anthropic claude-mythos-5 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed superseded -
anthropic claude-mythos-5-1 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed current -
anthropic claude-opus-4 200000 32000 text,image,pdf budget sampling retired 15/75/1.5/18.75
anthropic claude-opus-4-1 200000 32000 text,image,pdf budget sampling retired 15/75/1.5/18.75
anthropic claude-opus-4-5 200000 64000 text,image,pdf budget sampling superseded 5/25/0.5/6.25
anthropic claude-opus-4-6 1000000 128000 text,image,pdf adaptive:low,medium,high,max sampling superseded 5/25/0.5/6.25
anthropic claude-opus-4-7 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed superseded 5/25/0.5/6.25
anthropic claude-opus-4-8 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed superseded 5/25/0.5/6.25
anthropic claude-opus-5 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed superseded 5/25/0.5/6.25
anthropic claude-opus-5-5 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed current 4/20/0.2/5
anthropic claude-sonnet-4 200000 64000 text,image,pdf budget sampling retired 3/15/0.3/3.75
anthropic claude-sonnet-4-5 200000 64000 text,image,pdf budget sampling superseded 3/15/0.3/3.75 200000 6/22.5/0.6/7.5
anthropic claude-sonnet-4-6 1000000 64000 text,image,pdf adaptive:low,medium,high,max sampling superseded 3/15/0.3/3.75
anthropic claude-sonnet-5 1000000 128000 text,image,pdf adaptive:low,medium,high,xhigh,max fixed current 2/10/0.2/2.5
deepseek deepseek-chat 128000 8192 text none sampling retired 0.135/0.55/0.035/
deepseek deepseek-flash 1048576 393216 text,image effort:low,high,max sampling current -
deepseek deepseek-reasoner 163840 65536 text always sampling retired 0.135/0.55/0.035/
deepseek deepseek-v4-flash 1048576 393216 text effort:low,high,max sampling superseded 0.22/0.66/0.007/
deepseek deepseek-v4-flash-vision-exp 1048576 393216 text,image none sampling superseded 0.22/0.66/0.007/
deepseek deepseek-v4-pro 1048576 393216 text effort:high,max sampling current 0.66/1.98/0.022/
gcp.gemini gemini-2.5-flash 1048576 65536 text,image,pdf,audio budget sampling superseded 0.3/2.5/0.03/
gcp.gemini gemini-2.5-flash-lite-preview 65536 32768 text,image,pdf,audio budget sampling retired 0.1/0.4/0.01/
gcp.gemini gemini-2.5-pro 1048576 65536 text,image,pdf,audio budget sampling superseded 1.25/10/0.125/ 200000 2.5/15/0.25/
gcp.gemini gemini-3-flash-preview 1048576 65536 text,image,pdf,audio effort:low,medium,high sampling retired 0.5/3/0.05/
gcp.gemini gemini-3-pro-preview 1048576 65536 text,image,pdf,audio effort:low,medium,high sampling retired 2/12/0.2/ 200000 4/18/0.4/
gcp.gemini gemini-3.1-flash-lite 1048576 65536 text,image,pdf,audio effort:low sampling superseded 0.25/1.5/0.025/
gcp.gemini gemini-3.1-pro-preview 1048576 65536 text,image,pdf,audio effort:low,medium,high sampling current 2/12/0.2/ 200000 4/18/0.4/
gcp.gemini gemini-3.5-flash 1048576 65536 text,image,pdf,audio effort:low,medium,high sampling superseded 1.5/9/0.15/
gcp.gemini gemini-3.5-flash-lite 1048576 65536 text,image,pdf,audio effort:low sampling current 0.3/2.5/0.03/
gcp.gemini gemini-3.6-flash 1048576 65536 text,image,pdf,audio effort:low,medium,high sampling superseded 0.75/3.75/0.075/
gcp.gemini gemini-3.7-flash 1048576 65536 text,image,pdf,audio effort:low,medium,high sampling superseded 0.75/3.75/0.075/
gcp.gemini gemini-3.8-flash 1048576 65536 text,image,pdf,audio effort:low,medium,high sampling current 0.75/3.75/0.075/
gcp.gemini gemini-flash-latest 1048576 65536 text,image,pdf,audio always sampling superseded -
moonshot_ai kimi-for-coding 262144 64000 text,image always sampling current -
moonshot_ai kimi-for-coding-highspeed 262144 64000 text,image always sampling current -
moonshot_ai kimi-k2-preview 262144 64000 text none sampling retired -
moonshot_ai kimi-k2-thinking 262144 64000 text always sampling retired 0.6/2.5/0.15/
moonshot_ai kimi-k2-thinking-turbo 262144 64000 text always sampling retired 1.15/8/0.15/
moonshot_ai kimi-k2-turbo-preview 262144 64000 text none sampling retired 1.15/8/0.15/
moonshot_ai kimi-k2.5 262144 64000 text,image always sampling superseded 0.6/3/0.1/
moonshot_ai kimi-k2.6 262144 64000 text,image always sampling current 0.95/4/0.16/
moonshot_ai kimi-k2.7-code 262144 64000 text,image always sampling current 0.95/4/0.19/
moonshot_ai kimi-k3 1048576 1048576 text,image effort:low,medium,high,xhigh,max sampling current 3/15/0.3/
moonshot_ai kimi-thinking-preview 128000 64000 text,image always sampling retired -
moonshot_ai moonshot-v1-128k 131072 64000 text none sampling superseded 2/5//
moonshot_ai moonshot-v1-128k-vision-preview 131072 64000 text,image none sampling superseded 2/5//
openai chatgpt-4o-latest 128000 16384 text,image,pdf always fixed retired 5/15//
openai gpt-4-turbo 128000 4096 text,image,pdf none sampling retired 10/30//
openai gpt-4.1 1000000 32768 text,image,pdf none sampling superseded 2/8/0.5/
openai gpt-4.1-mini 1000000 32768 text,image,pdf none sampling superseded 0.4/1.6/0.1/
openai gpt-4.1-nano 1000000 32768 text,image,pdf none sampling superseded 0.1/0.4/0.025/
openai gpt-4.5-preview 128000 16384 text,image,pdf none sampling retired 75/150/37.5/
openai gpt-4o 128000 16384 text,image,pdf none sampling superseded 2.5/10/1.25/
openai gpt-4o-mini 128000 16384 text,image,pdf none sampling superseded 0.15/0.6/0.075/
openai gpt-5 400000 128000 text,image,pdf effort:minimal,low,medium,high fixed superseded 1.25/10/0.125/
openai gpt-5-mini 400000 128000 text,image,pdf effort:minimal,low,medium,high fixed superseded 0.25/2/0.025/
openai gpt-5-nano 400000 128000 text,image,pdf effort:minimal,low,medium,high fixed superseded 0.05/0.4/0.005/
openai gpt-5-pro 400000 272000 text,image,pdf effort:minimal,low,medium,high fixed superseded 15/120//
openai gpt-5.1 400000 128000 text,image,pdf effort:low,medium,high fixed superseded 1.25/10/0.125/
openai gpt-5.2 400000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 1.75/14/0.175/
openai gpt-5.2-codex 400000 128000 text,image,pdf effort:low,medium,high,xhigh fixed retired 1.75/14/0.175/
openai gpt-5.2-pro 400000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 21/168//
openai gpt-5.3-codex 400000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 1.75/14/0.175/
openai gpt-5.4 1050000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 2.5/15/0.25/ 271999 5/22.5/0.5/
openai gpt-5.4-mini 400000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 0.75/4.5/0.075/
openai gpt-5.4-nano 400000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 0.2/1.25/0.02/
openai gpt-5.4-pro 1050000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 30/180// 271999 60/270//
openai gpt-5.5 1050000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 5/30/0.5/ 271999 10/45/1/
openai gpt-5.5-pro 1050000 128000 text,image,pdf effort:low,medium,high,xhigh fixed superseded 30/180// 271999 60/270//
openai gpt-5.6 1050000 128000 text,image,pdf effort:low,medium,high,xhigh,max fixed superseded 4/20/0.4/5 271999 8/30/0.8/10
openai gpt-5.6-luna 1050000 128000 text,image,pdf effort:low,medium,high,xhigh,max fixed superseded 0.2/1.2/0.02/0.25 271999 0.4/1.8/0.04/0.5
openai gpt-5.6-terra 1050000 128000 text,image,pdf effort:low,medium,high,xhigh,max fixed current 2/12/0.2/2.5 271999 4/18/0.4/5
openai gpt-6-astra 1050000 128000 text,image effort:low,medium,high,xhigh,max fixed current 10/50/1/12.5 271999 20/75/2/25
openai gpt-6-luna 1050000 128000 text,image effort:low,medium,high,xhigh,max fixed current 0.1/0.5/0.01/0.125 272000 0.2/0.75/0.02/0.25
openai gpt-6-sol 1050000 128000 text,image effort:low,medium,high,xhigh,max fixed current 2/10/0.2/2.5 272000 4/15/0.4/5
openai o1 200000 100000 text,image,pdf effort:low,medium,high fixed superseded 15/60/7.5/
openai o1-mini 128000 65536 text effort:low,medium,high fixed retired 1.1/4.4/0.55/
openai o1-preview 128000 32768 text effort:low,medium,high fixed retired 15/60/7.5/
openai o1-pro 200000 100000 text,image effort:low,medium,high fixed superseded 150/600//
openai o3 200000 100000 text,image,pdf effort:low,medium,high fixed superseded 2/8/0.5/
openai o3-deep-research 200000 100000 text,image,pdf always fixed retired 10/40/2.5/
openai o3-mini 200000 100000 text effort:low,medium,high fixed superseded 1.1/4.4/0.55/
openai o3-pro 200000 100000 text,image,pdf effort:low,medium,high fixed superseded 20/80//
openai o4-mini 200000 100000 text,image,pdf effort:low,medium,high fixed superseded 1.1/4.4/0.275/
openai o4-mini-deep-research 200000 100000 text,image,pdf always fixed retired 2/8/0.5/
x_ai grok-2 131072 131072 text none sampling retired 2/10//
x_ai grok-2-vision 32768 32768 text,image none sampling retired 2/10//
x_ai grok-3-beta 131072 131072 text none sampling retired 3/15/0.75/
x_ai grok-3-mini-beta 131072 131072 text effort:low sampling superseded 0.3/0.5/0.075/
x_ai grok-4 256000 128000 text always sampling retired 3/15/0.75/
x_ai grok-4.3 1000000 128000 text effort:low sampling superseded 1.25/2.5/0.2/ 199999 2.5/5/0.4/
x_ai grok-4.5 500000 128000 text,image effort:low,medium,high sampling superseded 2/6/0.3/ 199999 4/12/0.6/
x_ai grok-4.6 500000 128000 text,image effort:low,medium,high sampling superseded 2/6/0.5/ 199999 4/12/1/
x_ai grok-4.7 500000 128000 text,image effort:low,medium,high sampling current -
`;
