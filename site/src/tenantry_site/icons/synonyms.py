"""Synonyms of icon names: the names in a second well-known icon set, and the names of paid icons.

Each line is an icon, a colon and its synonyms. Names that end with a number (``code-2``) need no line.
"""

from __future__ import annotations

TABLE = """
accessible-icon: accessibility
address-book: contact contacts contact-round
align-left: text text-align-start wrap-text
angles-down: chevrons-down
angles-left: chevrons-left
angles-right: chevrons-right
angles-up: chevrons-up
apple: apple-logo
arrow-down-wide-short: arrow-down-narrow-wide
arrow-left: circle-arrow-out-down-left move-left
arrow-pointer: mouse-pointer-click pointer mouse-pointer-square
arrow-right-arrow-left: arrow-left-right arrows-exchange
arrow-right-from-bracket: log-out
arrow-right-to-bracket: log-in
arrow-right: arrow-progress move-right
arrow-rotate-left: rotate-ccw
arrow-rotate-right: rotate-cw
arrow-trend-down: trending-down
arrow-trend-up: trending-up
arrow-up-right-from-square: square-arrow-out-up-right arrow-up-right link-external
arrows-left-right: move-horizontal
arrows-rotate: refresh-cw refresh-ccw refresh-cw-off repeat-1
arrows-turn-to-dots: route-off merge
arrows-up-down-left-right: move grab
aws: amazon-web-services
ban: circle-slash circle-off prohibited
bars-progress: loader-pinwheel progress
bars: menu
battery-full: battery-medium battery-charging battery-bolt
bell: bell-ring bell-on alarm
binoculars: telescope
bolt-lightning: electricity
bolt: lightning
book-bookmark: book-mark
book-open-reader: book-user
book-open: book-open-text book-open-check book-open-cover
book: book-font book-text book-marked notebook notebook-text notebook-pen library-big
bookmark: bookmark-check
border-all: grid-2x2 grid layout-grid grid-3x3 layout-dashboard grid-round-2
box-open: package-open
box: package package-check package-search package-plus
boxes-stacked: packages blocks toy-brick component
brain: brain-circuit brain-cog head-side-brain mind
briefcase: briefcase-business briefcase-blank
broom: brush-cleaning
brush: paintbrush-vertical
bug: bug-play bug-off
building: building-memo office
bullhorn: megaphone
bullseye: target goal crosshair bullseye-arrow bullseye-pointer
calculator: calculator-simple
calendar-check: calendar-check-2 calendar-heart
calendar-days: calendar-lines calendar-1
calendar: calendar-clock calendar-range
camera: camera-viewfinder
caret-right: triangle-right
chalkboard-user: presentation
chart-column: bar-chart-big chart-bar-big chart-no-axes-column bar-chart-horizontal
chart-gantt: square-gantt-chart gantt-chart
chart-line: chart-mixed chart-spline activity pulse chart-no-axes-combined chart-waterfall
chart-pie: chart-donut chart-pie-simple
chart-simple: bar-chart-simple analytics chart-no-axes-column-increasing signal-bars
check-double: check-check
check: check-line tick
chevron-down: chevron-down-square
chrome: google-chrome
circle-check: badge-check circle-check-big shield-tick
circle-dollar-to-slot: hand-coins piggy
circle-dot: disc
circle-exclamation: alert-circle circle-alert
circle-half-stroke: contrast
circle-info: badge-info
circle-nodes: webhook waypoints
circle-notch: loader loader-circle
circle-play: monitor-play
circle-plus: badge-plus
circle-question: help-circle circle-help message-question message-circle-question badge-question-mark
circle-user: user-circle-2 user-round circle-user-round
circle-xmark: x-circle circle-x badge-x
circle: dot circle-small
clapperboard: film-slate
clipboard-check: clipboard-pen
clipboard-list: clipboard-list-check scroll-text
clock: timer-off clock-3
cloud-arrow-up: upload-cloud
cloud: cloud-cog cloud-off
code-branch: git-branch git-branch-plus
code-commit: git-commit git-commit-horizontal
code-compare: git-compare git-compare-arrows diff
code-fork: git-fork split function-split
code-merge: git-merge
code-pull-request: git-pull-request git-pull-request-arrow
code: code-xml code-simple brackets-curly braces curly-braces brackets-angle file-json brackets square-function
coins: dollar-coins
comment-dots: message-circle-more message-square-more message-dots
comment: chat message-rounded
comments: messages-square messages message-circle chat-bubble chats
compass: compass-drafting-tool navigation
compress: minimize-2
computer: monitor-smartphone computer-classic
copy: clipboard-copy files
credit-card: wallet-cards credit-card-blank
crown: chess-queen-crown
cube: box-3d codesandbox
database: hard-drive-upload database-zap db
desktop: monitor screen-share
diagram-next: diagram-sankey
diagram-project: workflow chart-network network git-graph network-nodes sitemap-project diagram-nested
dice: dices
display: tv-minimal
dollar-sign: badge-dollar-sign circle-dollar circle-dollar-sign
door-open: door-enter
down-left-and-up-right-to-center: shrink
download: arrow-down-to-line arrow-down-to-bracket file-down
draw-polygon: vector-square bounding-box square-dashed-mouse-pointer
droplet: droplets-off
earth-americas: globe-2
ellipsis-vertical: more-vertical
ellipsis: more-horizontal
envelope: mail mails mail-open mail-plus at-sign
envelopes-bulk: inbox-multiple
eraser: clear
expand: maximize-2 fullscreen expand-wide scan frame focus
eye-slash: eye-off
eye: view
face-smile: happy
feather: quill
file-circle-plus: file-plus
file-code: file-json-2 file-terminal file-brackets-curly file-code-2
file-export: file-output file-up
file-import: file-input
file-lines: file-type file-doc document-text file-chart-line
file-pen: file-pen-line file-signature-2
file-shield: file-lock
file: page document
fill-drip: paint-bucket
film: clapperboard-video
filter: funnel list-filter filter-list
fingerprint: fingerprint-pattern scan-face scan-eye
flag: flag-triangle-right milestone
flask-vial: test-tube test-tubes test-tube-diagonal
flask: flask-conical beaker
folder-open: folder-open-dot
folder-tree: list-tree tree-structure square-chart-gantt
font: type
forward-step: skip-forward
gamepad: joystick gamepad-directional
gauge-high: gauge-simple-max
gauge: gauge-circle speedometer gauge-max
gear: settings cog-2 bolt-nut wrench-simple settings-gear gear-complex folder-gear-2
gears: settings-cogs
gem: diamond-gem
gift: gift-card
globe: globe-lock globe-pointer globe-stand web
golang: go
graduation-cap: school-cap
grip-vertical: grip-dots-vertical
grip: apps
hammer: gavel-hammer pickaxe
hand-holding-dollar: hand-coin
hand-pointer: pointer-click
hand: hand-stop
handshake: heart-handshake handshake-simple-2
hashtag: hash
headset: user-headset headphones-mic user-support
heart: favorite
hourglass: hourglass-clock
house: home-icon house-blank
image: picture
images: gallery-vertical gallery-horizontal gallery-thumbnails
industry: factory
italic: italic-text
js: javascript
kaaba: cuboid
key: key-round key-square keyhole
keyboard: keyboard-music
language: languages
laptop-code: laptop-mobile code-laptop
laptop: laptop-minimal
layer-group: layers layers-2 stack layers-plus
lightbulb: lightbulb-on lamp idea lightbulb-off
link: link-2
list-check: list-checks list-todo ballot-check
list-ol: list-ordered
list-ul: list-tree-bullets
list: list-collapse list-minus
location-crosshairs: locate locate-fixed
location-dot: pin-location map-pinned
location-pin: pin-drop
lock: lock-keyhole lock-password
magnifying-glass-arrow-right: file-search
magnifying-glass-chart: search-code chart-magnifying
magnifying-glass-minus: zoom-out
magnifying-glass-plus: zoom-in
magnifying-glass: search-check scan-search text-search radar
map: map-plus
maximize: expand-arrows
memory: memory-stick
message: message-square message-square-text message-lines message-text
microchip: cpu circuit-board cpu-chip microchip-ai chip
microphone-slash: mic-off
microphone: mic audio-lines
microsoft: azure
minus: minus-small
mobile-screen: tablet-smartphone
mobile: smartphone phone-mobile
money-bill: banknote
moon: moon-star
music: audio music-2
network-wired: ethernet-port lan unplug-network
newspaper: news
node-js: nodejs
note-sticky: note
object-ungroup: ungroup
openai: chatgpt gpt
otter: squirrel
paintbrush: paintbrush-pencil
palette: swatch-book
paper-plane: send-horizontal
paperclip: attachment
passport: badge-id
pause: pause-octagon
pen-nib: pen-tool
pen-ruler: ruler-pen
pen-to-square: edit-2
pen: pencil-line
pencil: pencil-mechanical
people-group: users-group users-three users-round
person-running: footprints-run
phone-slash: phone-off
phone: phone-call phone-forwarded phone-incoming
plane-arrival: plane-landing
plane-departure: plane-takeoff
plane: plane-engines
play: player-play
plug-circle-bolt: plug-zap-2
plug-circle-check: plugs-connected
plug: cable plug-zap plugs
plus: plus-large
power-off: power
print: printer
puzzle-piece: puzzle puzzle-piece-simple extension
python: python-logo
quote-left: quote text-quote quotes
quote-right: quote-end
receipt: receipt-text invoice
rectangle-list: form layout-list square-list
repeat: loop
retweet: arrows-repeat
right-from-bracket: logout exit
right-left: swap switch arrow-right-left-2
right-to-bracket: login enter
robot: bot bot-message-square user-robot ai bot-off
rocket: rocket-launch launch
rotate-left: undo-2
rotate-right: redo-2
route: signpost-big roadmap
ruler-combined: set-square
satellite-dish: radio-tower antenna
scale-balanced: scale balance
scissors: cut-2
screwdriver-wrench: toolbox-2 drill
scroll: parchment
server: server-cog server-stack
shapes: shape shapes-3
share-from-square: share-2 share-3
share: forward-arrow reply-forward
shield-halved: shield-half shield-check shield-ellipsis shield-keyhole shield-plus shield-alert shield-user security
shuffle: random-arrows
signs-post: signpost milestone-2
sitemap: org-chart
sliders: sliders-horizontal sliders-vertical sliders-up sliders-simple settings-2 tune
spell-check: spellcheck
spinner: loader-2 spinner-third
square-binary: binary
square-check: square-check-big
square-js: javascript-square
square-poll-vertical: square-chart-column
square-root-variable: sigma function pi radical formula variable
square-xmark: x-square
star: star-shooting star-sharp shooting-star star-christmas stars
stop: square-stop
stopwatch: timer timer-reset
store: storefront shop-2
street-view: user-location
suitcase: luggage
sun: sun-medium sun-bright
table-cells: table-grid
table-columns: columns-2 columns-3 panels-top-left layout kanban sidebar panel-left sidebar-flip kanban-board
table-list: rows list-details rows-3 rows-2
table: table-2 sheet table-tree
tag: ticket-percent label
tags: price-tags
temperature-half: thermometer-medium
terminal: square-terminal terminal-square console command-line prompt rectangle-terminal
text-height: text-size
text-width: letter-text
thumbtack: pin push-pin
ticket: tickets
timeline: chart-timeline timeline-arrow
toggle-on: switch-on
toolbox: tool-case
trash-can: trash-bin
trash: delete bin
tree: trees tree-pine tree-deciduous
triangle-exclamation: alert-triangle triangle-alert alert octagon-alert circle-alert-2
trophy: award-cup
unlock: lock-unlocked
up-right-and-down-left-from-center: scaling move-diagonal
up-right-from-square: open-in-new
upload: arrow-up-from-line arrow-up-from-bracket-2
user-check: user-round-check
user-gear: user-round-cog user-settings
user-group: users-2
user-lock: user-key
user-minus: user-round-minus
user-plus: user-round-plus
user-xmark: user-x
user: person-circle account
users: team people users-medical
vial: pipette
video: camera-movie
volume-high: volume-2 speaker
volume-low: volume-1
volume-xmark: volume-x mute
wallet: wallet-minimal
wand-magic-sparkles: sparkles sparkle magic-wand wand stars-sparkles
wave-square: audio-waveform waveform square-activity wave-sine
window-maximize: app-window window browser browsers panel-top app-window-mac window-restore-2
wrench: wrench-adjustable
x-twitter: twitter-x
xmark: x-mark
"""

NAMES: dict[str, str] = {
    name: icon
    for line in TABLE.strip().splitlines()
    for icon, _, rest in [line.partition(": ")]
    for name in rest.split()
}
