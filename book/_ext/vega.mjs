// What the pages with charts need of Vega. Its interpreter runs the charts' expressions without eval.
import { View, parse } from "vega";
import { expressionInterpreter } from "vega-interpreter";

window.vega = { View, parse, expressionInterpreter };
