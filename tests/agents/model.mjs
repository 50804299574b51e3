// SPDX-License-Identifier: Apache-2.0
// A model server that knows its answers beforehand: tool calls from a script, then a last text.
//   node model.mjs --script FILE --log FILE [--port N] [--port-file FILE]
// Wires: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions, Gemini generateContent.
// The script is a JSON list of steps, read anew for each request:
//   {"shell": TEXT} | {"write": {"path": P, "content": C}} | {"patch": TEXT} |
//   {"tool": NAME, "input": {…}} | {"custom": NAME, "input": TEXT}; with "otherwise": a step for those who lack that tool
// Which step is next follows from the number of tool results in the request, so that side requests
// (titles, summaries, routing) do no harm. Loopback only.
import http from 'node:http';
import fs from 'node:fs';
import net from 'node:net';

const args = {};
for (let i = 2; i < process.argv.length; i += 2) args[process.argv[i].slice(2)] = process.argv[i + 1];
const LAST = 'SCRIPT-ENDS';
let serial = 0;

const script = () => JSON.parse(fs.readFileSync(args.script, 'utf8'));
const log = (entry) => fs.appendFileSync(args.log, JSON.stringify(entry) + '\n');

/* The name of each step on each wire. */
function callOf(wire, step, tools) {
  const has = (name) => tools.includes(name);
  if (step.otherwise && !has(step.tool)) return callOf(wire, step.otherwise, tools);
  if (step.tool) return { name: step.tool, input: step.input };
  if (step.custom) return { custom: step.custom, input: step.input };
  if (wire === 'anthropic') {
    if (step.shell) return { name: 'Bash', input: { command: step.shell, description: 'a step' } };
    if (step.write) return { name: 'Write', input: { file_path: step.write.path, content: step.write.content } };
  }
  if (wire === 'responses') {
    /* Code mode: one tool takes JavaScript, and the others are functions in there. */
    if (has('exec') && !has('exec_command')) {
      const patch = step.patch ?? (step.write && `*** Begin Patch\n*** Add File: ${step.write.path}\n+${step.write.content}\n*** End Patch`);
      const call = step.shell ? `tools.exec_command(${JSON.stringify({ cmd: step.shell, ...(step.more || {}) })})` : `tools.apply_patch(${JSON.stringify(patch)})`;
      return { custom: 'exec', input: `let r; try { r = await ${call}; } catch (e) { r = String(e); }\ntext(r);` };
    }
    if (step.shell) {
      if (has('exec_command')) return { name: 'exec_command', input: { cmd: step.shell, ...(step.more || {}) } };
      if (has('shell_command')) return { name: 'shell_command', input: { command: step.shell, ...(step.more || {}) } };
      return { name: 'shell', input: { command: ['bash', '-lc', step.shell] } };
    }
    const patch = step.patch ?? `*** Begin Patch\n*** Add File: ${step.write.path}\n+${step.write.content}\n*** End Patch`;
    return { custom: 'apply_patch', input: patch };
  }
  if (wire === 'gemini') {
    if (step.shell) return { name: 'run_shell_command', input: { command: step.shell, description: 'a step', ...(step.more || {}) } };
    return { name: 'write_file', input: { file_path: step.write.path, content: step.write.content } };
  }
  if (wire === 'chat') {
    if (step.shell) {
      const name = ['run_shell_command', 'bash', 'Bash', 'shell'].find(has) || 'bash';
      return { name, input: { command: step.shell, description: 'a step', ...(step.more || {}) } };
    }
    if (step.patch) return { name: 'apply_patch', input: { patchText: step.patch } };
    const name = ['write_file', 'write', 'create'].find(has) || 'write_file';
    return name === 'write_file'
      ? { name, input: { file_path: step.write.path, content: step.write.content } }
      : { name, input: { filePath: step.write.path, path: step.write.path, content: step.write.content, file_text: step.write.content } };
  }
  throw new Error('no such step on this wire');
}

const next = (wire, count, tools) => {
  const steps = script();
  return tools.length && count < steps.length ? callOf(wire, steps[count], tools) : null;
};

function sse(res, events, named) {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const e of events) res.write((named ? `event: ${e.type}\n` : '') + `data: ${typeof e === 'string' ? e : JSON.stringify(e)}\n\n`);
  res.end();
}
function json(res, value, code = 200) {
  res.writeHead(code, { 'content-type': 'application/json' });
  res.end(JSON.stringify(value));
}

/* ---- Anthropic ---- */
function anthropic(res, body) {
  const tools = (body.tools || []).map((t) => t.name).filter(Boolean);
  const results = (body.messages || []).flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((c) => c.type === 'tool_result');
  const call = next('anthropic', results.length, tools);
  const id = `msg_${++serial}`;
  const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const block = call ? { type: 'tool_use', id: `toolu_${serial}`, name: call.name, input: call.input } : { type: 'text', text: LAST };
  const stop = call ? 'tool_use' : 'end_turn';
  if (!body.stream)
    return json(res, { id, type: 'message', role: 'assistant', model: body.model, content: [block], stop_reason: stop, stop_sequence: null, usage });
  sse(res, [
    { type: 'message_start', message: { id, type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: call ? { ...block, input: {} } : { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) } : { type: 'text_delta', text: LAST } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ], true);
}

/* ---- OpenAI Responses ---- */
function responses(res, body) {
  const input = Array.isArray(body.input) ? body.input : [];
  const named = (list) => list.flatMap((t) => (t.type === 'namespace' ? named(t.tools || []) : [t.name || t.type]));
  const tools = named([...(body.tools || []), ...input.filter((i) => i.type === 'additional_tools').flatMap((i) => i.tools || [])]);
  const results = input.filter((i) => /_call_output$/.test(i.type || ''));
  const call = next('responses', results.length, tools);
  /* A process that goes on is named in the result of the call that started it. */
  const session = /session ID (\d+)/.exec(JSON.stringify(results))?.[1];
  if (call?.input?.session_id === '$SESSION') call.input.session_id = Number(session);
  const id = `resp_${++serial}`;
  const item = !call ? { type: 'message', id: `msg_${serial}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: LAST, annotations: [] }] }
    : call.custom ? { type: 'custom_tool_call', id: `ctc_${serial}`, status: 'completed', call_id: `call_${serial}`, name: call.custom, input: call.input }
    : { type: 'function_call', id: `fc_${serial}`, status: 'completed', call_id: `call_${serial}`, name: call.name, arguments: JSON.stringify(call.input) };
  const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 };
  const response = { id, object: 'response', status: 'in_progress', model: body.model, output: [] };
  if (body.stream === false)
    return json(res, { ...response, status: 'completed', output: [item], usage });
  sse(res, [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item },
    ...(call ? [] : [{ type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: LAST }]),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ], true);
}

/* ---- OpenAI Chat Completions ---- */
function chat(res, body) {
  const tools = (body.tools || []).map((t) => t.function?.name).filter(Boolean);
  const results = (body.messages || []).filter((m) => m.role === 'tool');
  const call = next('chat', results.length, tools);
  const base = { id: `chatcmpl-${++serial}`, created: 1, model: body.model };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const toolCalls = call && [{ index: 0, id: `call_${serial}`, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.input) } }];
  const reason = call ? 'tool_calls' : 'stop';
  if (!body.stream)
    return json(res, { ...base, object: 'chat.completion', usage, choices: [{ index: 0, finish_reason: reason, message: { role: 'assistant', content: call ? null : LAST, ...(call ? { tool_calls: toolCalls } : {}) } }] });
  const chunk = (delta, finish_reason = null, more = {}) => ({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...more });
  sse(res, [chunk({ role: 'assistant', content: call ? null : LAST, ...(call ? { tool_calls: toolCalls } : {}) }), chunk({}, reason, { usage }), '[DONE]'], false);
}

/* ---- Gemini ---- */
function gemini(res, body, verb) {
  if (verb === 'countTokens') return json(res, { totalTokens: 10 });
  if (verb === 'embedContent') return json(res, { embedding: { values: [0] } });
  const tools = (body.tools || []).flatMap((t) => t.functionDeclarations || []).map((f) => f.name);
  const results = (body.contents || []).flatMap((c) => c.parts || []).filter((p) => p.functionResponse);
  const call = next('gemini', results.length, tools);
  const wantsJson = body.generationConfig?.responseMimeType === 'application/json' || body.generationConfig?.responseJsonSchema;
  const text = wantsJson ? JSON.stringify({ model_choice: 'flash', reasoning: 'scripted', next_speaker: 'user', complexity_reasoning: 'scripted', complexity_score: 1 }) : LAST;
  const part = call ? { functionCall: { id: `call_${++serial}`, name: call.name, args: call.input } } : { text };
  const value = { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }], usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }, modelVersion: 'scripted' };
  return verb.startsWith('stream') ? sse(res, [value], false) : json(res, value);
}

const server = http.createServer((req, res) => {
  const chunks = [];
  req.on('data', (c) => chunks.push(c));
  req.on('end', () => {
    const url = new URL(req.url, 'http://x');
    let body = {};
    try { body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}'); } catch { /* not for us */ }
    log({ at: Date.now(), method: req.method, path: url.pathname, body });
    const verb = /models\/[^:]+:(\w+)$/.exec(url.pathname)?.[1];
    try {
      if (url.pathname.endsWith('/messages/count_tokens')) return json(res, { input_tokens: 10 });
      if (url.pathname.endsWith('/messages')) return anthropic(res, body);
      if (url.pathname.endsWith('/responses')) return responses(res, body);
      if (url.pathname.endsWith('/chat/completions')) return chat(res, body);
      if (verb) return gemini(res, body, verb);
      if (url.pathname.endsWith('/models')) return json(res, { object: 'list', data: [{ id: 'scripted', object: 'model' }], models: [] });
      json(res, { error: { message: 'unknown page' } }, 404);
    } catch (e) {
      json(res, { error: { message: String(e) } }, 500);
    }
  });
});
/* As a proxy it leads everything to itself: for runs with --net=proxy=127.0.0.1:PORT. */
server.on('connect', (req, socket, head) => {
  log({ at: Date.now(), method: 'CONNECT', path: req.url, body: {} });
  const own = net.connect(server.address().port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    own.write(head);
    own.pipe(socket).pipe(own);
  });
  own.on('error', () => socket.destroy());
  socket.on('error', () => own.destroy());
});
server.listen(Number(args.port || 0), '127.0.0.1', () => {
  if (args['port-file']) fs.writeFileSync(args['port-file'], String(server.address().port));
});
