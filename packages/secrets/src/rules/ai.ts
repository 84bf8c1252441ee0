/** Model providers and the services around them. Lengths are those of issued keys, or of the providers' own detectors. */
import { isMixed, isPlaceholder } from '../judge.ts'
import { named, type Rule, token } from './rule.ts'

const word = 'A-Za-z0-9_\\-'

/**
 * Known by what all kinds share, never by a list: `oat01`, `ort01`, `sid01` and kinds not yet made are in no other scanner's
 * rules. Bodies seen are 93 characters and `AA`; 40 is less than any, so that a cut token still counts.
 */
const anthropic: Rule = {
  id: 'anthropic-token',
  keywords: ['sk-ant-'],
  pattern: new RegExp(`(?<shown>sk-ant-(?:[a-z]{2,8}[0-9]{2}-)?)(?:[${word}]{93}AA|[${word}]{40,250})`, 'y'),
  strong: true,
  judge: (secret, { shown }) => {
    const body = secret.slice(shown.length).replace(/AA$/, '')
    return !isPlaceholder(body) && isMixed(body) && /[A-Z]/.test(body) && /[a-z]/.test(body) ? 'format' : null
  },
  yes: ['sk-ant-oat01-<w93>AA', 'sk-ant-api03-<w93>AA', 'sk-ant-sid01-<w86>', 'keysk-ant-newkind42-<w60>'],
  no: ['sk-ant-oat01-<words>', 'sk-ant-oat01-…(108)', 'sk-ant-<w20>'],
}

export const aiRules: readonly Rule[] = [
  anthropic,
  token(
    'openai-key',
    'sk-proj-|sk-svcacct-|sk-admin-|sk-None-',
    `[${word}]{20,100}T3BlbkFJ[${word}]{20,100}|[${word}]{100,180}`,
    'sk-proj-<w74>T3BlbkFJ<w74>|sk-svcacct-<w58>T3BlbkFJ<w58>',
    { alphabet: word },
  ),
  token('openai-legacy-key', 'sk-', '[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}', 'sk-<n20>T3BlbkFJ<n20>', {
    bounded: true,
  }),
  token('deepseek-key', 'sk-', '[0-9a-f]{32}', 'sk-<h32>', { bounded: true, no: ['disk-<h32>'] }),
  token('openrouter-key', 'sk-or-v1-', '[0-9a-f]{64}', 'sk-or-v1-<h64>'),
  token('groq-key', 'gsk_', '[A-Za-z0-9]{52}', 'gsk_<n52>'),
  token('xai-key', 'xai-', '[A-Za-z0-9_]{80}', 'xai-<n80>', { bounded: true }),
  token('replicate-token', 'r8_', '[A-Za-z0-9]{37}', 'r8_<n37>', { bounded: true }),
  token('huggingface-token', 'hf_', '[A-Za-z0-9]{34}', 'hf_<n34>', { bounded: true }),
  token('huggingface-organization-token', 'api_org_', '[A-Za-z]{34}', 'api_org_<m34>', { bounded: true }),
  token('perplexity-key', 'pplx-', '[A-Za-z0-9]{48}', 'pplx-<n48>'),
  token('fireworks-key', 'fw_', '[A-Za-z0-9]{22,24}', 'fw_<n24>', { bounded: true }),
  token('cerebras-key', 'csk-', '[a-z0-9]{48}', 'csk-<a48>', { bounded: true }),
  token('langsmith-key', 'lsv2_pt_|lsv2_sk_', '[0-9a-f]{32}_[0-9a-f]{10}', 'lsv2_pt_<h32>_<h10>'),
  token('langfuse-key', 'sk-lf-', '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'sk-lf-<uuid>'),
  token('nvidia-key', 'nvapi-', `[${word}]{60,70}`, 'nvapi-<w64>', { alphabet: word }),
  token('voyage-key', 'pa-', `[${word}]{43}`, 'pa-<w43>', { bounded: true, alphabet: word, no: ['spa-<w43>'] }),
  token('elevenlabs-key', 'sk_', '[0-9a-f]{48}', 'sk_<h48>', { bounded: true }),
  token('pinecone-key', 'pcsk_', '[A-Za-z0-9]{4,8}_[A-Za-z0-9]{58,66}', 'pcsk_<n6>_<n62>'),
  token('tavily-key', 'tvly-', '(?:dev-|prod-)?[A-Za-z0-9]{32}', 'tvly-dev-<n32>|tvly-<n32>'),
  token('jina-key', 'jina_', `[0-9a-f]{32}[${word}]{28}`, 'jina_<h32><w28>', { alphabet: word }),
  token('e2b-key', 'e2b_', '[0-9a-f]{40}', 'e2b_<h40>', { bounded: true }),
  token('apify-token', 'apify_api_', '[A-Za-z0-9]{36}', 'apify_api_<n36>'),
  token('firecrawl-key', 'fc-', '[0-9a-f]{32}', 'fc-<h32>', { bounded: true }),
  token('together-key', 'tgp_v1_', `[${word}]{43}`, 'tgp_v1_<w43>', { alphabet: word }),
  token('anyscale-key', 'esecret_', '[a-z0-9]{26,40}', 'esecret_<a28>'),
  token('helicone-key', 'sk-helicone-', '[a-z0-9]{7}(?:-[a-z0-9]{7}){3}', 'sk-helicone-<a7>-<a7>-<a7>-<a7>'),
  token('cursor-key', 'key_', '[0-9a-f]{64}', 'key_<h64>', { bounded: true }),
  token('modal-token', 'ak-|as-', '[A-Za-z0-9]{22}', 'ak-<n22>', { bounded: true, no: ['mask-<n22>'] }),
  named('cohere-key', 'cohere', '[A-Za-z0-9]{40}', 'COHERE_API_KEY=<n40>'),
  named('mistral-key', 'mistral', '[A-Za-z0-9]{32}', 'MISTRAL_API_KEY=<n32>'),
  named('wandb-key', 'wandb', '[0-9a-f]{40}', 'WANDB_API_KEY=<h40>'),
  named('deepgram-key', 'deepgram', '[0-9a-f]{40}', 'DEEPGRAM_API_KEY=<h40>'),
  named('assemblyai-key', 'assemblyai', '[0-9a-f]{32}', 'ASSEMBLYAI_API_KEY=<h32>'),
]
