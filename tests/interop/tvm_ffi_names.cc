// SPDX-License-Identifier: MIT
//
// C++ names of tvm-ffi's library as calls of global functions, for its C++ tests on ours: preloaded, so that each test needs a
// process with the functions and not with the names.
#include <tvm/ffi/extra/dataclass.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/extra/serialization.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/ffi/extra/visit_error_context.h>
#include <tvm/ffi/function.h>

namespace tvm {
namespace ffi {

template <typename... Args>
static Any call(const char *name, const Args &...args)
{
	return Function::GetGlobalRequired(name)(args...);
}

#define COMPARISON(name)                                                                           \
	bool name(const Any &a, const Any &b)                                                      \
	{                                                                                          \
		return call("ffi." #name, a, b).cast<bool>();                                      \
	}

COMPARISON(RecursiveEq)
COMPARISON(RecursiveLt)
COMPARISON(RecursiveLe)
COMPARISON(RecursiveGt)
COMPARISON(RecursiveGe)

int64_t RecursiveHash(const Any &v)
{
	return call("ffi.RecursiveHash", v).cast<int64_t>();
}

String ReprPrint(const Any &v)
{
	return call("ffi.ReprPrint", v).cast<String>();
}

Any DeepCopy(const Any &v)
{
	return call("ffi.DeepCopy", v);
}

json::Value ToJSONGraph(const Any &v, const Any &metadata)
{
	return call("ffi.ToJSONGraph", v, metadata);
}

Any FromJSONGraph(const json::Value &v)
{
	return call("ffi.FromJSONGraph", v);
}

bool StructuralEqual::Equal(const Any &a, const Any &b, bool map_free, bool skip_content)
{
	return call("ffi.StructuralEqual", a, b, map_free, skip_content).cast<bool>();
}

Optional<reflection::AccessPathPair> StructuralEqual::GetFirstMismatch(const Any &a, const Any &b,
								       bool map_free, bool skip_content)
{
	return call("ffi.GetFirstStructuralMismatch", a, b, map_free, skip_content)
		.cast<Optional<reflection::AccessPathPair>>();
}

uint64_t StructuralHash::Hash(const Any &v, bool map_free, bool skip_content)
{
	return static_cast<uint64_t>(
		call("ffi.StructuralHash", v, map_free, skip_content).cast<int64_t>());
}

Array<reflection::AccessPath> VisitErrorContext::FindAccessPaths(const ObjectRef &root,
								 const VisitErrorContext &context,
								 bool prefix)
{
	return call("ffi.VisitErrorContext.FindAccessPaths", root, context, prefix)
		.cast<Array<reflection::AccessPath>>();
}

namespace json {

Value Parse(const String &text, String *error)
{
	if (!error)
		return call("ffi.json.Parse", text);
	try {
		Value v = call("ffi.json.Parse", text);
		*error = String("");
		return v;
	} catch (const Error &e) {
		*error = String(e.message());
		return nullptr;
	}
}

String Stringify(const Value &v, const Optional<int> &indent)
{
	return call("ffi.json.Stringify", v, indent).cast<String>();
}

} // namespace json
} // namespace ffi
} // namespace tvm
