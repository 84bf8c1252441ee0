/** Extensions and names by which a word is known for a file. */

const extensions = new Set(
  `astro avif bash bat bib bicep bmp c cc cfg cjs clj cljs cmake conf cpp cs csproj css csv cts cu cue cxx dart diff
  dockerfile drawio edn ejs el elm env eot eps erb erl ex exs feature fish fnl fs fsproj fsx gif glsl go gql gradle
  graphql groovy h haml hbs hcl hh hpp hrl hs htm html hxx ico ics idl ini ipynb java jinja jinja2 jl jpeg jpg js json
  json5 jsonc jsonl jsx key kt kts kql less lhs liquid lisp lock log lua m make markdown md mdc mdx mermaid mjs mk ml mli
  mm mod mp3 mp4 mts mustache ndjson nim nix njk nu odt ogg org otf pas patch pdf pem php pl plist pm png po pp prisma
  properties proto ps1 psd1 psm1 pug pxd py pyi pyx qml r rake rb re rego res resx rkt robot rs rst rtf s sass sbt scala
  scm scss sh shader sln sol sql sqlite styl sum sv svelte svg swift tcl tex textproto tf tfvars toml tpl ts tsv tsx ttf
  txt vb vbproj vert vhd vhdl vim vue wasm wat wav webm webp wgsl woff woff2 xaml xcconfig xhtml xib xlsx xml xsd xsl
  yaml yml zig zsh tmpl template example sample snap dist`
    .split(/\s+/)
    .filter((name) => name !== ''),
)

const names =
  /^(?:(?:GNU)?[Mm]akefile|Dockerfile|Containerfile|[Jj]ustfile|Procfile|Gemfile|Rakefile|Podfile|Brewfile|Vagrantfile|Jenkinsfile|Caddyfile|LICENSE|NOTICE|CODEOWNERS|CHANGELOG|README|AUTHORS|VERSION|BUILD|WORKSPACE|\.env(?:\.[\w-]+)*|\.[a-z][\w-]*(?:rc|ignore|attributes|config|modules|version)(?:\.\w+)?|\.dockerignore|\.mailmap)$/

/** True for a path whose last name ends in an extension that files have; `.ts` alone is none. */
export function hasKnownExtension(path: string): boolean {
  const extension = /[^/.][^/]*\.([A-Za-z0-9]+)$|\.[^/.]+\.([A-Za-z0-9]+)$/.exec(path)
  const found = extension?.[1] ?? extension?.[2]
  return found !== undefined && extensions.has(found.toLowerCase()) && !/^\.\w+\.\w+$/.test(path)
}

/** True for a path whose last name is a file by custom (`Makefile`, `.nvmrc`). */
export function isKnownFileName(path: string): boolean {
  return names.test(path.slice(path.lastIndexOf('/') + 1))
}
