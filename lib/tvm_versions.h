/* SPDX-License-Identifier: MIT */
/*
 * Which versions of TVM have which form of a module, for messages and help. tests/build/documents.sh
 * compares the documents with these.
 */
#ifndef LIB_TVM_VERSIONS_H
#define LIB_TVM_VERSIONS_H

#define TVM_BLOB_LEGACY	 "0.8 to 0.21"	  /* import trees whose payloads have no length */
#define TVM_BLOB_MODERN	 "0.22 and later" /* those with a length */
#define TVM_CALLS_LEGACY "0.8 to 0.20" /* functions that take TVMValue, and RPC's older encoding */
#define TVM_CALLS_MODERN "0.21 and later" /* RPC's newer encoding */
#define TVM_LINK_LEGACY	 "0.8 to 0.19"	  /* load what tenon link --abi legacy writes; have Relay */
#define TVM_MLF		 "0.8 to 0.18"	  /* write Model Library Format */

#endif /* LIB_TVM_VERSIONS_H */
