"""Style sheet of a report: light or dark, for narrow and wide screens."""

# z0 to z8: a diverging scale, from low to high through the page's grey
STYLE = """
:root{color-scheme:light dark;
--page:#fff;--ink:#1c2430;--soft:#5b6675;--rule:#d9dee5;--card:#f5f7f9;--accent:#1f6fb2;
--other:#8a95a3;--z0:#2166ac;--z1:#4d8dc3;--z2:#82b2d8;--z3:#b8d3e8;--z4:#e4e8ec;--z5:#f3ccb0;
--z6:#e6a377;--z7:#cf7541;--z8:#a8480f;--control:#c3c9d1;--mark:#fff;
--c0:#1f6fb2;--c1:#c2571a;--c2:#2b8a5a;--c3:#8b4bb5;--c4:#b23a5e;--c5:#6f6a1d;--c6:#2a8c97;
--c7:#6b7280}
@media (prefers-color-scheme:dark){:root{
--page:#12161c;--ink:#e6eaef;--soft:#9aa6b4;--rule:#2f3742;--card:#1a2028;--accent:#6cb2ee;
--other:#7a8696;--z0:#7fbcf5;--z1:#5795d0;--z2:#3f6f9f;--z3:#30506f;--z4:#2b323b;--z5:#5b4030;
--z6:#8c5934;--z7:#c07a43;--z8:#f2a765;--control:#4a5360;--mark:#12161c;
--c0:#6cb2ee;--c1:#f0955c;--c2:#62c394;--c3:#c495ea;--c4:#f08aa8;--c5:#c9c265;--c6:#63c7d1;
--c7:#a4adba}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1080px;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.2rem 0 .5rem;border-top:1px solid var(--rule);padding-top:1rem}
.headline{font-size:1.3rem;line-height:1.35;font-weight:600;margin:1rem 0}
.lifts{margin:.5rem 0;padding-left:1.2rem}
p{max-width:44rem;margin:.5rem 0}
.soft,figcaption,caption{color:var(--soft);font-size:.9rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem;
margin:1rem 0;padding:0}
.tiles>div{background:var(--card);border-radius:.5rem;padding:.6rem .8rem}
.tiles dt{color:var(--soft);font-size:.85rem}
.tiles dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}
.tiles small{display:block;font-size:.8rem;color:var(--soft)}
.bar-of{display:block;height:.35rem;background:var(--rule);border-radius:.2rem;margin-top:.3rem}
.bar-of i{display:block;height:100%;background:var(--accent);border-radius:.2rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));
gap:1rem 2rem;align-items:start}
.figures.plates{grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
figure{margin:.5rem 0;min-width:0}
figure>svg{display:block;width:100%;height:auto;max-width:34rem}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.3rem}
caption span{display:inline-block;position:sticky;left:0;max-width:calc(100vw - 2rem)}
th,td{padding:.25rem .8rem .25rem 0;text-align:right;border-bottom:1px solid var(--rule);
white-space:nowrap}
th{font-weight:600;color:var(--soft)}
.l{text-align:left}
td.name{white-space:normal;min-width:7rem;max-width:20rem;overflow-wrap:anywhere}
@media (max-width:30rem){table{font-size:.84rem}th,td{padding-right:.5rem}
td.name{min-width:5rem}}
summary{cursor:pointer;margin:.5rem 0}
details p{overflow-wrap:anywhere;color:var(--soft)}
tr.other td{color:var(--soft)}
time{white-space:nowrap}
code{overflow-wrap:anywhere;font-size:.88em}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:center;font-size:.9rem;
max-width:none}
.legend span{white-space:nowrap}
.steps{display:inline-flex;vertical-align:-.1em}
.steps i{width:.8em;height:.9em}
@media print{.steps i,.bar-of,.bar-of i{print-color-adjust:exact;-webkit-print-color-adjust:exact}
figure,tr,.tiles>div{break-inside:avoid}h2{break-after:avoid}}
.key{width:1em;height:1em;vertical-align:-.12em}
svg text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink)}
svg .tick,svg .well{fill:var(--soft);font-size:10px}
svg .well{font-size:8.5px}
.grid{stroke:var(--rule);stroke-width:1}
.whisker{stroke-width:2}
.whisker.chosen,.dot.chosen{stroke:var(--accent)}
.whisker.other,.dot.other{stroke:var(--other)}
.dot{stroke-width:2}
.dot.chosen{fill:var(--accent)}
.dot.other{fill:var(--page)}
.dot.single{fill:var(--page);stroke-dasharray:2 2}
.zero{stroke:var(--ink);stroke-width:1.2}
.band{stroke:none;fill-opacity:.13}
.bar.chosen{fill:var(--accent)}
.bar.other{fill:var(--other)}
.area{fill:var(--accent);fill-opacity:.25;stroke:var(--accent);stroke-width:1.5}
.band{fill:var(--accent);fill-opacity:.22}
.bound{fill:none;stroke-width:1;stroke-dasharray:3 3}
.series{fill:none;stroke-width:1.8;stroke-linejoin:round}
.leader{stroke:var(--rule)}
.control{fill:var(--control)}
.open{fill:none;stroke:var(--other);stroke-width:.8;stroke-dasharray:2 1.5}
.ring{fill:none;stroke:var(--mark)}
.cross{fill:none;stroke:var(--ink);stroke-width:1.2}
.late{fill:var(--ink);stroke:var(--page);stroke-width:.6}
""" + "".join(f".z{i}{{fill:var(--z{i});background:var(--z{i})}}\n" for i in range(9)) + "".join(
    f".series.c{i},.bound.c{i}{{stroke:var(--c{i})}}.mark.c{i},.band.c{i}{{fill:var(--c{i})}}\n"
    for i in range(8))
