/** Clouds, hosting, databases, infrastructure and monitoring. */
import { isPlaceholder, isRandom } from '../judge.ts'
import { named, type Rule, token } from './rule.ts'

const word = 'A-Za-z0-9_\\-'
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** Access key ids are base 32; AWS's own examples end in EXAMPLE. */
const judgeAccessKey: Rule['judge'] = (secret) =>
  !isPlaceholder(secret.slice(4)) && !secret.endsWith('EXAMPLE') ? 'format' : null

const judgeAwsSecret: Rule['judge'] = (secret) =>
  isRandom(secret) && !secret.includes('EXAMPLE') && /[A-Z]/.test(secret) && /[a-z]/.test(secret) ? 'format' : null

export const cloudRules: readonly Rule[] = [
  token('aws-access-key', 'AKIA|ASIA|ABIA|ACCA', '[A-Z2-7]{16}', 'AKIA<t16>|ASIA<t16>', {
    bounded: true,
    judge: judgeAccessKey,
    no: ['AKIAIOSFODNN7EXAMPLE'],
  }),
  named(
    'aws-secret-key',
    'aws_secret|aws-secret|awssecret|secret_access_key|secretaccesskey|secret_key|secretkey|aws_session',
    '[A-Za-z0-9/+]{40}',
    'aws_secret_access_key = <b40>',
    { alphabet: 'A-Za-z0-9/+=_-', judge: judgeAwsSecret },
  ),
  token('aws-bedrock-key', 'ABSK', '[A-Za-z0-9+/]{109,269}={0,2}', 'ABSK<b120>', { bounded: true }),
  token('aws-mws-token', 'amzn.mws.', uuid, 'amzn.mws.<uuid>'),
  token('google-api-key', 'AIza', `[${word}]{35}`, 'AIza<w35>', { alphabet: word, bounded: true }),
  token('google-oauth-token', 'ya29.', `[${word}.]{60,500}`, 'ya29.a0<w160>', { alphabet: word }),
  token('google-oauth-secret', 'GOCSPX-', `[${word}]{28}`, 'GOCSPX-<w28>', { alphabet: word }),
  token('google-refresh-token', '1//0', `[${word}]{60,120}`, '1//0<w80>', { alphabet: word, bounded: true }),
  named(
    'azure-storage-key',
    'accountkey|account_key|storage_key|storagekey|sharedaccesskey',
    '[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=',
    'AccountName=acme;AccountKey=<b86>==;EndpointSuffix=x',
    { alphabet: 'A-Za-z0-9+/=' },
  ),
  {
    id: 'azure-client-secret',
    keywords: ['q~'],
    pattern: /(?<=(?<![\w~.-])(?<before>[\w~.-]{3}[0-9]))Q~[\w~.-]{31,34}(?![\w~.-])/y,
    strong: false,
    judge: (secret) => (isRandom(secret) ? 'format' : null),
    yes: ['AZURE_CLIENT_SECRET=<n3>8Q~<n34>'],
    no: ['<n2>8Q~<n10>'],
  },
  token('digitalocean-token', 'dop_v1_|doo_v1_|dor_v1_', '[0-9a-f]{64}', 'dop_v1_<h64>|dor_v1_<h64>'),
  token('alibaba-access-key', 'LTAI', '[A-Za-z0-9]{16,20}', 'LTAI<n20>', { bounded: true }),
  token('tencent-secret-id', 'AKID', '[A-Za-z0-9]{32}', 'AKID<n32>', { bounded: true }),
  token('yandex-key', 'AQVN', `[${word}]{35,38}`, 'AQVN<w35>', { bounded: true, alphabet: word }),
  token('heroku-key', 'HRKU-AA', `[${word}]{58}`, 'HRKU-AA<w58>', { alphabet: word }),
  named('heroku-legacy-key', 'heroku', uuid, 'HEROKU_API_KEY=<uuid>'),
  token('fly-token', 'fm1r_|fm1a_|fm2_|fo1_', '[A-Za-z0-9+/=_-]{43,1500}', 'fo1_<w43>|fm2_<b200>', {
    alphabet: 'A-Za-z0-9+/=_-',
  }),
  token('vercel-token', 'vcp_|vci_|vca_|vcr_|vck_', '[A-Za-z0-9]{56}', 'vcp_<n56>', { bounded: true }),
  token('netlify-token', 'nfp_|nfc_|nfo_|nfu_', '[A-Za-z0-9]{36}', 'nfp_<n36>', { bounded: true }),
  token('cloudflare-origin-key', 'v1.0-', '[0-9a-f]{24}-[0-9a-f]{146}', 'v1.0-<h24>-<h146>', { bounded: true }),
  named('cloudflare-token', 'cloudflare|cf_api', `[${word}]{40}|[0-9a-f]{37}`, 'CLOUDFLARE_API_TOKEN=<w40>'),
  named('scaleway-key', 'scw_secret|scaleway', uuid, 'SCW_SECRET_KEY=<uuid>'),
  named('hetzner-token', 'hcloud|hetzner', '[A-Za-z0-9]{64}', 'HCLOUD_TOKEN=<n64>'),
  named('linode-token', 'linode', '[0-9a-f]{64}', 'LINODE_TOKEN=<h64>'),
  named('vultr-key', 'vultr', '[A-Z0-9]{36}', 'VULTR_API_KEY=<A36>'),
  token('render-key', 'rnd_', '[A-Za-z0-9]{32}', 'rnd_<n32>', { bounded: true }),
  token('supabase-token', 'sbp_', '[0-9a-f]{40}', 'sbp_<h40>', { bounded: true }),
  token('supabase-secret-key', 'sb_secret_', `[${word}]{22}_[${word}]{8}`, 'sb_secret_<n22>_<n8>', { alphabet: word }),
  token('planetscale-token', 'pscale_tkn_|pscale_pw_|pscale_oauth_', `[${word}.=]{32,64}`, 'pscale_tkn_<w43>', {
    alphabet: word,
  }),
  token('neon-key', 'napi_', '[a-z0-9]{64}', 'napi_<a64>', { bounded: true }),
  token('databricks-token', 'dapi', '[0-9a-f]{32}(?:-[0-9])?', 'dapi<h32>', { bounded: true }),
  named('ngrok-token', 'ngrok', '[A-Za-z0-9]{27}_[A-Za-z0-9]{21,22}', 'NGROK_AUTHTOKEN=<n27>_<n21>'),
  token(
    'tailscale-key',
    'tskey-',
    '(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{10,22}-[A-Za-z0-9]{20,40}',
    'tskey-auth-<n17>-<n32>',
  ),
  token('onepassword-token', 'ops_eyJ', '[A-Za-z0-9+/=_-]{200,1500}', 'ops_eyJ<b300>', { alphabet: 'A-Za-z0-9+/=_-' }),
  token(
    'onepassword-secret-key',
    'A3-',
    '[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}',
    'A3-<A6>-<A11>-<A5>-<A5>-<A5>',
    {
      bounded: true,
    },
  ),
  token('vault-token', 'hvs.|hvb.|hvr.', `[${word}]{24,200}`, 'hvs.<w90>', { bounded: true, alphabet: word }),
  {
    id: 'terraform-cloud-token',
    keywords: ['.atlasv1.'],
    pattern: /(?<=(?<before>[A-Za-z0-9]{14}))\.atlasv1\.[A-Za-z0-9_=-]{60,70}(?![A-Za-z0-9_=-])/y,
    strong: true,
    judge: (secret) => (isRandom(secret) ? 'format' : null),
    yes: ['<n14>.atlasv1.<w67>'],
    no: ['<n14>.atlasv1.<w20>'],
  },
  token('pulumi-token', 'pul-', '[0-9a-f]{40}', 'pul-<h40>', { bounded: true }),
  token(
    'doppler-token',
    'dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit.|dp.said.',
    `(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}`,
    'dp.pt.<n43>|dp.st.prod.<n43>',
    {
      bounded: true,
    },
  ),
  token('infracost-key', 'ico-', '[A-Za-z0-9]{32}', 'ico-<n32>', { bounded: true }),
  token('launchdarkly-key', 'sdk-|api-', uuid, 'sdk-<uuid>', { bounded: true }),
  token('sentry-token', 'sntrys_eyJ', '[A-Za-z0-9+/=_]{80,500}', 'sntrys_eyJ<b120>', { alphabet: 'A-Za-z0-9+/=_' }),
  token('sentry-user-token', 'sntryu_', '[0-9a-f]{64}', 'sntryu_<h64>'),
  token('newrelic-key', 'NRAK-|NRII-|NRIQ-', `[A-Z0-9]{27}|[${word}]{32}`, 'NRAK-<A27>', {
    bounded: true,
    alphabet: word,
  }),
  token('grafana-service-account-token', 'glsa_', '[A-Za-z0-9]{32}_[0-9a-f]{8}', 'glsa_<n32>_<h8>'),
  token('grafana-cloud-token', 'glc_eyJ', '[A-Za-z0-9+/]{40,400}={0,2}', 'glc_eyJ<b120>'),
  token('dynatrace-token', 'dt0c01.|dt0s01.|dt0s16.|dt0e01.', '[A-Z0-9]{24}\\.[A-Z0-9]{64}', 'dt0c01.<A24>.<A64>'),
  named('datadog-key', 'datadog|dd_api|dd_app', '[0-9a-f]{40}|[0-9a-f]{32}', 'DD_API_KEY=<h32>'),
  token('honeycomb-key', 'hcaik_|hcbik_|hcamk_', '[a-z0-9]{58,64}', 'hcaik_<a58>'),
  token('logfire-token', 'pylf_v1_', '(?:us|eu)_[A-Za-z0-9]{43}', 'pylf_v1_us_<n43>'),
  token('axiom-token', 'xaat-|xapt-', uuid, 'xaat-<uuid>', { bounded: true }),
  token('nats-seed', 'SUA|SAA|SOA', '[A-Z2-7]{55}', 'SUA<t55>', { bounded: true, judge: judgeBase32 }),
  token('openshift-token', 'sha256~', `[${word}]{43}`, 'sha256~<w43>', { alphabet: word }),
  token('defined-networking-token', 'dnkey-', `[A-Za-z0-9]{26}-[A-Za-z0-9=_-]{52}`, 'dnkey-<n26>-<n52>', {
    alphabet: word,
  }),
  token('scalingo-token', 'tk-us-', `[${word}]{48}`, 'tk-us-<w48>', { bounded: true, alphabet: word }),
  token('inngest-key', 'signkey-prod-|signkey-test-|signkey-branch-', '[0-9a-f]{64}', 'signkey-prod-<h64>'),
  token('trigger-key', 'tr_', '(?:dev|prod|stg|preview)_[A-Za-z0-9]{20,24}', 'tr_prod_<n24>', { bounded: true }),
  token('statsig-key', 'secret-', '[A-Za-z0-9]{43}', 'secret-<n43>', { bounded: true }),
]

function judgeBase32(secret: string): 'format' | null {
  return !isPlaceholder(secret) && /[2-7]/.test(secret.slice(3)) ? 'format' : null
}
