# SPDX-License-Identifier: MIT
SUMMARY = "Runtime for compiled machine learning models"
DESCRIPTION = "Tenon loads modules that Apache TVM compiled and runs their functions on the CPU and on devices. \
It is written in C and needs only the C library."
HOMEPAGE = "https://tenon.example.org"
SECTION = "libs"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://LICENSE;md5=9ae2ecdffe70a574f69d3bc707d18d9f"

# the checksum comes with the release (docs/releasing.md); to build a checkout, inherit externalsrc
SRC_URI = "https://tenon.example.org/releases/tenon-${PV}.tar.gz \
           file://run-ptest \
           "

DEPENDS = "jsmn xxhash"

inherit pkgconfig ptest

# Each name is an option of Kconfig: what is left out is not built. Drivers are opened at run time, so a backend
# needs no driver to build.
# cjson is in meta-oe.
PACKAGECONFIG ??= "tool graph aot relax ${@bb.utils.contains('BBFILE_COLLECTIONS', 'openembedded-layer', 'json', '', d)}"
PACKAGECONFIG[tool] = "TOOL=y,TOOL=n"
PACKAGECONFIG[json] = "JSON=y,JSON=n,cjson"
PACKAGECONFIG[npz] = "NPZ=y,NPZ=n,libzip"
PACKAGECONFIG[rpc] = "REMOTE=y,REMOTE=n"
PACKAGECONFIG[graph] = "GRAPH_EXECUTOR=m,GRAPH_EXECUTOR=n"
PACKAGECONFIG[aot] = "AOT_EXECUTOR=m,AOT_EXECUTOR=n"
PACKAGECONFIG[relax] = "RELAX_VM=m,RELAX_VM=n"
PACKAGECONFIG[opencl] = "DEVICE_OPENCL=m,DEVICE_OPENCL=n"
PACKAGECONFIG[vulkan] = "DEVICE_VULKAN=m,DEVICE_VULKAN=n,vulkan-headers"
PACKAGECONFIG[cuda] = "DEVICE_CUDA=m,DEVICE_CUDA=n"
PACKAGECONFIG[mortise] = "DEVICE_MORTISE=m,DEVICE_MORTISE=n"
# the CPU as a device is in the library; oneDNN is not in these layers
TENON_OPTIONS = "DEVICE_CPU=y DNNL_JSON=n"

EXTRA_OEMAKE = "V=1 O=build prefix=${prefix} bindir=${bindir} libdir=${libdir} includedir=${includedir} \
                datadir=${datadir} mandir=${mandir} sysconfdir=${sysconfdir} SCDOC=none \
                ${@bb.utils.contains('DISTRO_FEATURES', 'systemd', 'udevdir=${nonarch_base_libdir}/udev', '', d)}"

do_configure() {
	mkdir -p ${B}/build
	for option in ${PACKAGECONFIG_CONFARGS} ${TENON_OPTIONS}; do
		echo "CONFIG_$option"
	done > ${B}/build/.config
	oe_runmake olddefconfig
}

do_compile() {
	oe_runmake all
}

do_install() {
	oe_runmake DESTDIR=${D} install
}

do_compile_ptest() {
	${CC} ${CPPFLAGS} ${CFLAGS} ${LDFLAGS} -I${S}/include -fPIC -shared -o ${B}/add.so ${S}/tests/build/add_modern.c
}

do_install_ptest() {
	install -m 0644 ${B}/add.so ${D}${PTEST_PATH}
}

PACKAGE_BEFORE_PN = "libtenon libtenon-link libtenon-llm libtenon-rpc ${PN}-executors ${PN}-backend-opencl ${PN}-backend-vulkan ${PN}-backend-cuda \
                     ${PN}-backend-mortise"

FILES:libtenon = "${libdir}/libtenon.so.* ${libdir}/tenon/describe.so ${libdir}/tenon/params.so ${libdir}/tenon/probe.so \
  ${libdir}/tenon/rpc.so ${libdir}/tenon/self_test.so ${libdir}/tenon/trace.so"
FILES:libtenon-link = "${libdir}/libtenon-link.so.*"
FILES:libtenon-llm = "${libdir}/libtenon-llm.so.*"
FILES:libtenon-rpc = "${libdir}/libtenon-rpc.so.*"
FILES:${PN}-executors = "${libdir}/tenon/graph.so ${libdir}/tenon/aot.so ${libdir}/tenon/metadata.so ${libdir}/tenon/relax.so \
                         ${libdir}/tenon/libtvm_ffi.so ${libdir}/tenon/libtvm_runtime.so"
FILES:${PN}-backend-opencl = "${libdir}/tenon/opencl.so"
FILES:${PN}-backend-vulkan = "${libdir}/tenon/vulkan.so"
FILES:${PN}-backend-cuda = "${libdir}/tenon/cuda.so"
FILES:${PN}-backend-mortise = "${libdir}/tenon/mortise.so"
FILES:${PN} += "${nonarch_base_libdir}/udev ${datadir}/bash-completion ${datadir}/zsh ${datadir}/fish ${datadir}/tenon"

# the headers are those of the library, which the command comes with but does not own
RDEPENDS:${PN}-dev = "libtenon (= ${EXTENDPKGV})"
RRECOMMENDS:${PN} = "${PN}-executors"
RRECOMMENDS:${PN}-backend-vulkan = "vulkan-loader"
