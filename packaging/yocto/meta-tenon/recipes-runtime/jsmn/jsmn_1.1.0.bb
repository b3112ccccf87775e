# SPDX-License-Identifier: MIT
SUMMARY = "Minimal JSON tokenizer in one header"
HOMEPAGE = "https://github.com/zserge/jsmn"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://LICENSE;md5=5adc94605a1f7a797a9a834adbe335e3"

SRC_URI = "git://github.com/zserge/jsmn.git;protocol=https;branch=master"
SRCREV = "fdcef3ebf886fa210d14956d3c068a653e76a24e"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
	install -d ${D}${includedir}
	install -m 0644 ${S}/jsmn.h ${D}${includedir}
}

# a header, and nothing for the target
ALLOW_EMPTY:${PN} = "1"
BBCLASSEXTEND = "native nativesdk"
