/** Messaging, payments and the other services that projects call. */
import { isRandom } from '../judge.ts'
import { named, type Rule, token } from './rule.ts'

const word = 'A-Za-z0-9_\\-'
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** The first part of a bot's token is its id in base64: 17 to 20 digits. */
const judgeSnowflake: Rule['judge'] = (secret) => {
  const id = Buffer.from(secret.split('.')[0] ?? '', 'base64').toString('latin1')
  return /^\d{17,20}$/.test(id) && isRandom(secret) ? 'verified' : null
}

export const saasRules: readonly Rule[] = [
  token(
    'slack-token',
    'xoxb-|xoxp-|xoxa-|xoxr-|xoxo-|xoxs-|xoxc-|xoxd-',
    '[0-9A-Za-z%-]{24,180}',
    'xoxb-<d12>-<d13>-<n24>|xoxp-<d12>-<d12>-<d13>-<h32>',
    {
      alphabet: 'A-Za-z0-9-',
    },
  ),
  token('slack-app-token', 'xapp-', '[0-9]-[A-Z0-9]{8,14}-[0-9]{10,14}-[0-9a-f]{64}', 'xapp-1-A<A10>-<d13>-<h64>'),
  token(
    'slack-config-token',
    'xoxe.xoxp-|xoxe.xoxb-|xoxe-',
    '[0-9]-[A-Za-z0-9]{140,180}',
    'xoxe.xoxp-1-<n163>|xoxe-1-<n146>',
  ),
  token(
    'slack-webhook',
    'hooks.slack.com/',
    '(?:services|workflows|triggers)/[A-Za-z0-9/]{40,60}',
    'hooks.slack.com/services/T<A10>/B<A10>/<n24>',
    {
      alphabet: 'A-Za-z0-9/',
    },
  ),
  {
    id: 'discord-bot-token',
    keywords: ['discord', 'login(', 'bot_token', 'bottoken', 'bot-token'],
    pattern: new RegExp(
      `(?:discord|login\\(|bot[_-]?token)[^\\n]{0,40}?(?<![${word}.])(?<secret>[MNO][${word}]{23,27}\\.[${word}]{6}\\.[${word}]{27,38})(?![${word}.])`,
      'iy',
    ),
    strong: false,
    judge: judgeSnowflake,
    yes: ['client.login("<snowflake>.<n6>.<w38>")'],
    no: ['bot_token MT<n24>.<n6>.<w20>'],
  },
  token(
    'discord-webhook',
    'https://discord.com/api/webhooks/|https://discordapp.com/api/webhooks/|https://ptb.discord.com/api/webhooks/',
    `[0-9]{17,20}/[${word}]{60,70}`,
    'https://discord.com/api/webhooks/<d19>/<n68>',
    {
      alphabet: word,
    },
  ),
  {
    id: 'telegram-bot-token',
    keywords: [':aa'],
    pattern: new RegExp(`(?<=(?<![${word}])(?<before>[0-9]{8,10})):AA[${word}]{33}(?![${word}])`, 'y'),
    strong: false,
    judge: (secret) => (isRandom(secret.split(':')[1] ?? '') ? 'format' : null),
    yes: ['bot = "<d10>:AA<w33>"'],
    no: ['<d4>:AA<w33>', '<d10>:AA<w20>'],
  },
  token(
    'teams-webhook',
    '.webhook.office.com/webhookb2/',
    `${uuid}@${uuid}/IncomingWebhook/[0-9a-f]{32}/${uuid}`,
    '.webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/<h32>/<uuid>',
  ),
  named('twilio-key', 'twilio', 'SK[0-9a-f]{32}', 'TWILIO_API_KEY=SK<h32>', {
    judge: (secret) => (isRandom(secret.slice(2)) ? 'format' : null),
  }),
  named('twilio-auth-token', 'twilio', '[0-9a-f]{32}', 'TWILIO_AUTH_TOKEN=<h32>'),
  token('sendgrid-key', 'SG.', `[${word}]{22}\\.[${word}]{43}`, 'SG.<w22>.<w43>', { bounded: true, alphabet: word }),
  token('mailgun-key', 'key-', '[0-9a-f]{32}', 'key-<h32>', { bounded: true, no: ['monkey-<h32>'] }),
  {
    id: 'mailchimp-key',
    keywords: ['-us'],
    pattern: /(?<=(?<![0-9a-zA-Z])(?<before>[0-9a-f]{32}))-us[0-9]{1,2}(?![0-9A-Za-z])/y,
    strong: false,
    judge: (secret) => (isRandom(secret.slice(0, 32)) ? 'format' : null),
    yes: ['mc = "<h32>-us14"'],
    no: ['<h16>-us14'],
  },
  token('resend-key', 're_', '[A-Za-z0-9]{8}_[A-Za-z0-9]{24}', 're_<n8>_<n24>', { bounded: true }),
  token('brevo-key', 'xkeysib-|xsmtpsib-', '[0-9a-f]{64}-[A-Za-z0-9]{16}', 'xkeysib-<h64>-<n16>'),
  named('postmark-token', 'postmark', uuid, 'POSTMARK_SERVER_TOKEN=<uuid>'),
  token(
    'stripe-key',
    'sk_live_|rk_live_|sk_test_|rk_test_|sk_prod_',
    '[A-Za-z0-9]{24,247}',
    'sk_live_<n99>|rk_live_<n24>',
  ),
  token('stripe-webhook-secret', 'whsec_', '[A-Za-z0-9+/=]{32,64}', 'whsec_<n32>', { alphabet: 'A-Za-z0-9+/=' }),
  token('square-token', 'sq0atp-|sq0csp-|sq0idp-', `[${word}]{22,43}`, 'sq0atp-<w22>|sq0csp-<w43>', { alphabet: word }),
  token('square-access-token', 'EAAA', `[${word}]{60}`, 'EAAA<w60>', { bounded: true, alphabet: word }),
  token(
    'paypal-token',
    'access_token$production$',
    '[0-9a-z]{16}\\$[0-9a-f]{32}',
    'access_token$production$<a16>$<h32>',
  ),
  token('plaid-token', 'access-', `(?:sandbox|development|production)-${uuid}`, 'access-production-<uuid>', {
    bounded: true,
  }),
  token('shopify-token', 'shpat_|shpca_|shppa_|shpss_|shpua_', '[0-9a-fA-F]{32}', 'shpat_<h32>|shpss_<h32>'),
  token('flutterwave-key', 'FLWSECK-|FLWSECK_TEST-', '[0-9a-h]{32}-X', 'FLWSECK_TEST-<h32>-X'),
  token('razorpay-key', 'rzp_live_|rzp_test_', '[A-Za-z0-9]{14}', 'rzp_live_<n14>'),
  token('easypost-key', 'EZAK|EZTK', '[A-Za-z0-9]{54}', 'EZAK<n54>', { bounded: true }),
  token('shippo-token', 'shippo_live_|shippo_test_', '[0-9a-f]{40}', 'shippo_live_<h40>'),
  token('duffel-token', 'duffel_live_|duffel_test_', `[${word}=]{43}`, 'duffel_live_<w43>', { alphabet: word }),
  token('gocardless-token', 'live_', `[${word}=]{40}`, 'live_<w40>', { bounded: true, alphabet: word }),
  token(
    'adyen-key',
    'AQE',
    '[A-Za-z0-9+/=]{120,180}-[A-Za-z0-9+/=]{30,60}-[A-Za-z0-9+/=;:%<>,.{}()$*&^~?!@#]{8,24}',
    'AQE<b140>-<b44>-<n16>',
    {
      bounded: true,
      alphabet: 'A-Za-z0-9+/=',
    },
  ),
  token('notion-token', 'ntn_', '[0-9]{11}[A-Za-z0-9]{35}', 'ntn_<d11><n35>', { bounded: true }),
  token('notion-legacy-token', 'secret_', '[A-Za-z0-9]{43}', 'secret_<n43>', { bounded: true }),
  token('linear-key', 'lin_api_|lin_oauth_|lin_wh_', '[A-Za-z0-9]{40,64}', 'lin_api_<n40>'),
  token('airtable-token', 'pat', '[A-Za-z0-9]{14}\\.[0-9a-f]{64}', 'pat<n14>.<h64>', { bounded: true }),
  named('asana-token', 'asana', '[0-9]{1,2}/[0-9]{16}(?:/[0-9]{16})?:[0-9a-f]{32}', 'ASANA_TOKEN=1/<d16>:<h32>', {
    judge: (secret) => (isRandom(secret.split(':')[1] ?? '') ? 'format' : null),
  }),
  token('figma-token', 'figd_|figu_|figoh_', `[${word}]{38,48}`, 'figd_<w40>', { alphabet: word }),
  token('dropbox-token', 'sl.', `[${word}.]{130,1200}`, 'sl.u.<w140>', { bounded: true, alphabet: word }),
  token('hubspot-token', 'pat-na1-|pat-na2-|pat-eu1-', uuid, 'pat-na1-<uuid>'),
  token('salesforce-token', '00D', '[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{80,120}', '00D<n12>!<n96>', { bounded: true }),
  token('contentful-token', 'CFPAT-', `[${word}]{43}`, 'CFPAT-<w43>', { alphabet: word }),
  token('mapbox-token', 'sk.eyJ', `[${word}]{60,120}\\.[${word}]{22}`, 'sk.eyJ<w80>.<w22>', { alphabet: word }),
  token('facebook-token', 'EAAM|EAAC|EAAG|EAAB', '[A-Za-z0-9]{90,300}', 'EAAM<n160>', { bounded: true }),
  token('twitter-bearer', 'AAAAAAAAAAAAAAAAAAAA', '[A-Za-z0-9%]{80,110}', 'AAAAAAAAAAAAAAAAAAAA<n92>', {
    bounded: true,
    alphabet: 'A-Za-z0-9%+/',
  }),
  token('okta-token', 'SSWS ', `00[${word}]{40}`, 'SSWS 00<w40>', { alphabet: word }),
  named('okta-key', 'okta', `00[${word}]{40}`, 'OKTA_API_TOKEN=00<w40>'),
  token('frameio-token', 'fio-u-', `[${word}=]{64}`, 'fio-u-<w64>', { alphabet: word }),
  token('typeform-token', 'tfp_', '[A-Za-z0-9_.=-]{44,64}', 'tfp_<n59>', { bounded: true, alphabet: word }),
  token('tinybird-token', 'p.eyJ', `[${word}]{60,160}\\.[${word}]{27,43}`, 'p.eyJ<w90>.<w27>', {
    bounded: true,
    alphabet: word,
  }),
  token('segment-token', 'sgp_', '[A-Za-z0-9]{64}', 'sgp_<n64>', { bounded: true }),
  token('posthog-key', 'phx_|phs_', `[${word}]{43,60}`, 'phx_<n43>', { bounded: true, alphabet: word }),
  {
    id: 'maxmind-key',
    keywords: ['_mmk'],
    pattern: /(?<=(?<![A-Za-z0-9_])(?<before>[A-Za-z0-9]{6}_[A-Za-z0-9]{29}))_mmk(?![A-Za-z0-9])/y,
    strong: false,
    judge: (secret) => (isRandom(secret) ? 'format' : null),
    yes: ['key: <n6>_<n29>_mmk'],
    no: ['<n6>_<n12>_mmk'],
  },
  token('clickup-token', 'pk_', '[0-9]{7,9}_[A-Z0-9]{32}', 'pk_<d8>_<A32>', { bounded: true }),
  token('adafruit-key', 'aio_', '[A-Za-z0-9]{28}', 'aio_<n28>', { bounded: true }),
  token('pubnub-secret', 'sec-c-', '[A-Za-z0-9]{40,60}', 'sec-c-<n48>'),
  token('onesignal-key', 'os_v2_app_|os_v2_org_', '[a-z2-7]{80,120}', 'os_v2_app_<T103>'),
  token('linkedin-secret', 'WPL_AP', '[0-9]\\.[A-Za-z0-9]{14,20}\\.[A-Za-z0-9=]{6,12}', 'WPL_AP1.<n16>.<n8>'),
  token('lob-key', 'live_pub_|test_pub_', '[0-9a-f]{31}', 'live_pub_<h31>', { bounded: true }),
  token('ubidots-token', 'BBFF-', '[A-Za-z0-9]{30}', 'BBFF-<n30>', { bounded: true }),
  token('zoho-token', '1000.', '[0-9a-f]{32}\\.[0-9a-f]{32}', '1000.<h32>.<h32>', { bounded: true }),
  named(
    'algolia-admin-key',
    'algolia_admin|algolia_api|algoliaapikey|algolia_write',
    '[0-9a-f]{32}',
    'ALGOLIA_ADMIN_KEY=<h32>',
  ),
  named('zendesk-token', 'zendesk', '[A-Za-z0-9]{40}', 'ZENDESK_TOKEN=<n40>'),
  named('intercom-token', 'intercom', '[A-Za-z0-9=_-]{60}', 'INTERCOM_TOKEN=<w60>'),
  named('facebook-app-secret', 'facebook|fb_app', '[0-9a-f]{32}', 'FACEBOOK_APP_SECRET=<h32>'),
  named('spotify-secret', 'spotify', '[0-9a-f]{32}', 'SPOTIFY_CLIENT_SECRET=<h32>'),
  named('twitch-secret', 'twitch', '[a-z0-9]{30}', 'TWITCH_CLIENT_SECRET=<a30>'),
]
