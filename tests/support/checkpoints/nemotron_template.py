"""A chat template by Nemotron's published rules, for the tiny model beside its plain one.

The rules are those of NVIDIA-Nemotron-Nano-12B-v2-VL's template and, for earlier thinking, of
NVIDIA-Nemotron-Nano-12B-v2's:

* `/think` in a message of the system or a user turns thinking on, `/no_think` turns it off; the last such
  message counts, and without one it is off. `</think>` holds no `/think`.
* Both words are removed from every message, a reply's too (by the published one if it is a single string), and
  the rest is stripped of white space.
* The pictures of a message come before its text, unless the text says `<image>` itself.
* Of a reply only what follows its last `</think>` stays in the history.
* The prompt ends in `<think></think>` if thinking is off, and in an opened block if it is on.
"""

NEMOTRON_FILE = "nemotron.jinja"
"""Where a checkpoint keeps it; a server takes it by `--chat-template`."""

NEMOTRON_TEMPLATE = """\
{%- macro unswitched(text) -%}
  {{- text.replace('</think>', '<_end_think>').replace('/think', '').replace('/no_think', '')
      .replace('<_end_think>', '</think>') -}}
{%- endmacro -%}
{%- set asked = namespace(thinking=false) -%}
{%- set said = namespace(texts=[], pictures=0) -%}
{{- '<s>' -}}
{%- if not messages or messages[0]['role'] != 'system' -%}
  {{- '<SPECIAL_10>System\\n\\n' -}}
{%- endif -%}
{%- for message in messages -%}
  {%- set said.texts = [] -%}
  {%- set said.pictures = 0 -%}
  {%- if message['content'] is string -%}
    {%- set said.texts = [message['content']] -%}
  {%- else -%}
    {%- for part in message['content'] -%}
      {%- if part['type'] == 'text' -%}
        {%- set said.texts = said.texts + [part['text']] -%}
      {%- else -%}
        {%- set said.pictures = said.pictures + 1 -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- if message['role'] != 'assistant' -%}
    {%- for text in said.texts -%}
      {%- if '/think' in text.replace('</think>', '') -%}
        {%- set asked.thinking = true -%}
      {%- elif '/no_think' in text -%}
        {%- set asked.thinking = false -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- set text = unswitched(said.texts | join('')) -%}
  {%- if '<image>' in text -%}
    {%- set said.pictures = 0 -%}
  {%- endif -%}
  {%- if message['role'] == 'system' -%}
    {{- '<SPECIAL_10>System\\n' + text.strip() + '\\n' -}}
  {%- elif message['role'] == 'assistant' -%}
    {{- '<SPECIAL_11>Assistant\\n' + text.split('</think>')[-1].strip() + '\\n<SPECIAL_12>\\n' -}}
  {%- else -%}
    {{- '<SPECIAL_11>User\\n' -}}
    {%- if said.pictures == 1 -%}
      {{- '<image>\\n' -}}
    {%- elif said.pictures -%}
      {%- for number in range(said.pictures) -%}
        {{- '<image ' + (number + 1) | string + '><image>' + ('\\n' if loop.last else ' ') -}}
      {%- endfor -%}
    {%- endif -%}
    {{- text.strip() + '\\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<SPECIAL_11>Assistant\\n' + ('<think>\\n' if asked.thinking else '<think></think>') -}}
{%- endif -%}
"""
